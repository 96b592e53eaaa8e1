/** A patch names a field that would reach the prototype of an object. */
export class UnsafePatchError extends Error {
  override readonly name = "UnsafePatchError";

  constructor(field: string) {
    super(`a patch must not write the field ${JSON.stringify(field)}`);
  }
}
