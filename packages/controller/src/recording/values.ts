import { types } from "node:util";
import { isLinkable } from "@holdfast/kit";

/** The name of the field that marks a value that JSON cannot have. */
const MARK = "$";

type Marked = { readonly $: string; readonly v?: unknown; readonly c?: unknown };

/** A value as JSON, with what JSON has not: `undefined`, dates, bytes, Maps, Sets, bigints, errors, cycles. */
export function encode(value: unknown, above: readonly unknown[] = []): unknown {
  if (typeof value !== "object" || value === null) return encodeScalar(value);
  if (above.includes(value)) return { $: "cycle" };
  const within = (part: unknown): unknown => encode(part, [...above, value]);
  if (Array.isArray(value)) return value.map(within);
  return encodeObject(value, within);
}

function encodeScalar(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return { $: "number", v: `${value}` };
  if (typeof value === "bigint") return { $: "bigint", v: `${value}` };
  if (value === undefined || typeof value === "symbol") return { $: "undefined" };
  return typeof value === "function" ? { $: "linked", v: {} } : value;
}

function encodeObject(value: object, within: (part: unknown) => unknown): unknown {
  if (types.isDate(value)) return { $: "date", v: value.getTime() };
  if (value instanceof Uint8Array) return { $: "bytes", v: Buffer.from(value).toString("base64") };
  if (value instanceof Map) return { $: "map", v: [...value].map(within) };
  if (value instanceof Set) return { $: "set", v: [...value].map(within) };
  if (value instanceof Error) return encodeError(value, within);
  if (isLinkable(value)) return { $: "linked", v: dataOf(value, within) };
  const entries = Object.entries(value).map(([name, part]) => [name, within(part)] as const);
  return MARK in value ? { $: "object", v: entries } : Object.fromEntries(entries);
}

function encodeError(error: Error, within: (part: unknown) => unknown): Marked {
  const { name, message, cause } = error;
  const own = Object.entries(error).filter(([, part]) => !isLinkable(part));
  const fields = { ...Object.fromEntries(own), name, message };
  return { $: "error", v: within(fields), ...(cause !== undefined && { c: within(cause) }) };
}

/** The data of an object that has methods too, such as the rows of a result. */
function dataOf(value: object, within: (part: unknown) => unknown): unknown {
  const data = Object.entries(value).filter(([, part]) => !isLinkable(part));
  return Object.fromEntries(data.map(([name, part]) => [name, within(part)]));
}

const DECODERS: Readonly<Record<string, (marked: Marked) => unknown>> = {
  number: ({ v }) => Number(v),
  bigint: ({ v }) => BigInt(v as string),
  date: ({ v }) => new Date(v as number),
  bytes: ({ v }) => Buffer.from(v as string, "base64"),
  map: ({ v }) => new Map((v as unknown[]).map((pair) => decode(pair) as [unknown, unknown])),
  set: ({ v }) => new Set((v as unknown[]).map(decode)),
  object: ({ v }) => decodeEntries(v as [string, unknown][]),
  error: ({ v, c }) => decodeError(decode(v) as { readonly message: string }, c),
  linked: ({ v }) => standIn(decode(v) as object),
};

/** The value of {@link encode}. An object with methods becomes one whose methods do nothing. */
export function decode(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(decode);
  if (MARK in value) return DECODERS[(value as Marked).$]?.(value as Marked);
  return decodeEntries(Object.entries(value));
}

function decodeEntries(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries.map(([name, part]) => [name, decode(part)]));
}

function decodeError(fields: { readonly message: string }, cause: unknown): Error {
  const options = cause === undefined ? {} : { cause: decode(cause) };
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

/** Longest argument in the text of a call. */
const MAX_TEXT = 4_000;

/** An argument of a linked call in its text, which a replay compares. */
export function show(value: unknown): string {
  if (value instanceof AbortSignal) return "signal";
  if (typeof value === "function") return "function";
  return JSON.stringify(encode(value)).slice(0, MAX_TEXT);
}
