import { types } from "node:util";
import { isLinkable } from "@holdfast/kit";

/** The name of the field that marks a value that JSON cannot have. */
const MARK = "$";

type Marked = { readonly $: string; readonly v?: unknown; readonly c?: unknown };

/** How a recording keeps objects of a class, or others of which a copy is not the same. */
export interface Codec {
  /** Its name in recordings. */
  readonly name: string;
  /** Whether it is for an object. */
  is(value: object): boolean;
  /** The data of an object: anything that a recording can have. */
  encode(value: object): unknown;
  /** The object of its data. */
  decode(data: unknown): object;
}

/** Writes and reads the values of linked systems. */
export class Values {
  readonly #codecs: readonly Codec[];

  constructor(codecs: readonly Codec[]) {
    this.#codecs = codecs;
  }

  /** A value as JSON, with what JSON has not: `undefined`, dates, bytes, Maps, Sets, URLs, bigints, errors, cycles. */
  encode(value: unknown, above: readonly unknown[] = [], isText = false): unknown {
    if (typeof value !== "object" || value === null) return encodeScalar(value);
    if (above.includes(value)) return { $: "cycle" };
    const within = (part: unknown): unknown => this.encode(part, [...above, value], isText);
    if (Array.isArray(value)) return value.map(within);
    const codec = this.#codecs.find((one) => one.is(value));
    if (codec !== undefined) return { $: "codec", c: codec.name, v: within(codec.encode(value)) };
    return encodeOfClass(value, within) ?? (isText ? textForm : encodeObject)(value, within);
  }

  /** The value of `encode`. An object with methods becomes one whose methods do nothing. */
  decode(value: unknown): unknown {
    const within = (part: unknown): unknown => this.decode(part);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(within);
    if (!(MARK in value)) return decodeEntries(Object.entries(value), within);
    const marked = value as Marked;
    return marked.$ === "codec" ? this.#decode(marked) : DECODERS[marked.$]?.(marked, within);
  }

  /** An argument of a linked call in its text, which a replay compares. What an object has for JSON counts. */
  show(value: unknown): string {
    if (value instanceof AbortSignal) return "signal";
    if (typeof value === "function") return "function";
    return JSON.stringify(this.encode(value, [], true));
  }

  #decode({ c, v }: Marked): object {
    const codec = this.#codecs.find(({ name }) => name === c);
    if (codec !== undefined) return codec.decode(this.decode(v));
    throw new RangeError(
      `the recording has a value of codec ${JSON.stringify(c)}: add it to codecs`,
    );
  }
}

function encodeScalar(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return { $: "number", v: `${value}` };
  if (typeof value === "bigint") return { $: "bigint", v: `${value}` };
  if (value === undefined || typeof value === "symbol") return { $: "undefined" };
  return typeof value === "function" ? { $: "linked", v: {} } : value;
}

/** The data of classes of JavaScript that come back as what they were. */
function encodeOfClass(value: object, within: (part: unknown) => unknown): Marked | undefined {
  if (types.isDate(value)) return { $: "date", v: value.getTime() };
  if (value instanceof Uint8Array) return { $: "bytes", v: Buffer.from(value).toString("base64") };
  if (value instanceof Map) return { $: "map", v: [...value].map(within) };
  if (value instanceof Set) return { $: "set", v: [...value].map(within) };
  if (value instanceof Error) return encodeError(value, within);
  if (value instanceof URL) return { $: "url", v: value.href };
  return types.isRegExp(value) ? { $: "regexp", v: [value.source, value.flags] } : undefined;
}

function encodeObject(value: object, within: (part: unknown) => unknown): unknown {
  if (isLinkable(value)) return { $: "linked", v: dataOf(value, within, isLinkable) };
  const entries = Object.entries(value).map(([name, part]) => [name, within(part)] as const);
  return MARK in value ? { $: "object", v: entries } : Object.fromEntries(entries);
}

/** What is compared of an object that nobody reads back. */
function textForm(value: object, within: (part: unknown) => unknown): unknown {
  if (value instanceof URLSearchParams) return { $: "query", v: `${value}` };
  if (types.isAnyArrayBuffer(value)) return within(new Uint8Array(value));
  if (ArrayBuffer.isView(value))
    return within(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  if ("toJSON" in value && typeof value.toJSON === "function")
    return { $: "json", v: within(value.toJSON()) };
  if (!isLinkable(value)) return encodeObject(value, within);
  return { $: "linked", v: dataOf(value, within, (part) => typeof part === "function") };
}

function encodeError(error: Error, within: (part: unknown) => unknown): Marked {
  const { name, message, cause } = error;
  const own = Object.entries(error).filter(([, part]) => !isLinkable(part));
  const errors = error instanceof AggregateError && { errors: error.errors as unknown };
  const fields = { ...Object.fromEntries(own), ...errors, name, message };
  return { $: "error", v: within(fields), ...(cause !== undefined && { c: within(cause) }) };
}

/** The data of an object that has methods too, such as the rows of a result. */
function dataOf(
  value: object,
  within: (part: unknown) => unknown,
  isLeftOut: (part: unknown) => boolean,
): unknown {
  const data = Object.entries(value).filter(([, part]) => !isLeftOut(part));
  return Object.fromEntries(data.map(([name, part]) => [name, within(part)]));
}

type Within = (part: unknown) => unknown;

const DECODERS: Readonly<Record<string, (marked: Marked, within: Within) => unknown>> = {
  number: ({ v }) => Number(v),
  bigint: ({ v }) => BigInt(v as string),
  date: ({ v }) => new Date(v as number),
  bytes: ({ v }) => Buffer.from(v as string, "base64"),
  map: ({ v }, within) => new Map(within(v) as [unknown, unknown][]),
  set: ({ v }, within) => new Set(within(v) as unknown[]),
  url: ({ v }) => new URL(v as string),
  regexp: ({ v }) => new RegExp(...(v as [string, string])),
  object: ({ v }, within) => decodeEntries(v as [string, unknown][], within),
  error: ({ v, c }, within) => decodeError(within(v) as { readonly message: string }, within(c)),
  linked: ({ v }, within) => standIn(within(v) as object),
};

function decodeEntries(entries: readonly (readonly [string, unknown])[], within: Within): object {
  return Object.fromEntries(entries.map(([name, part]) => [name, within(part)]));
}

function decodeError(fields: { readonly message: string }, cause: unknown): Error {
  const options = cause === undefined ? {} : { cause };
  return Object.assign(new Error(fields.message, options), fields);
}

/** In place of an object of a linked system: it has the data, and a method of every other name. */
function standIn(data: object): object {
  const nothing = (): void => {};
  return new Proxy(nothing, {
    get: (target, name) => {
      if (name in data) return Reflect.get(data, name);
      if (name === "then" || (typeof name === "symbol" && name !== Symbol.asyncIterator))
        return Reflect.get(target, name);
      return name === Symbol.asyncIterator ? () => ({ next: nothing }) : () => {};
    },
  });
}
