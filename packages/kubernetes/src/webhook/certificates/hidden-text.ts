/** The method that Node prints an object by. */
const PRINT: symbol = Symbol.for("nodejs.util.inspect.custom");

const HIDDEN = "[hidden]";

/** A text that no log, error or JSON shows: a private key. */
export class HiddenText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    Object.defineProperty(this, PRINT, { value: () => HIDDEN });
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }
}
