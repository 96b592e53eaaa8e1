/** The error for a schema that a CustomResourceDefinition cannot express. */
export function schemaError(path: string, reason: string, remedy: string): RangeError {
  return new RangeError(`a CRD cannot express the schema of ${path}: ${reason}; ${remedy}`);
}
