// `format` of the strings of CEL.
import { types } from "node:util";
import { durationText, timeText } from "./times.ts";

// biome-ignore lint/suspicious/noExplicitAny: the library hands over whatever the expression has
type Value = any;

const { isDate } = types;

const CLAUSE = /%(?:%|(?:\.(\d+))?(.)|)/gsu;

/**
 * A text with its clauses replaced by values.
 *
 * @throws Error in the words of a server, for a clause or a value that does not fit
 */
export function formatText(pattern: string, values: readonly Value[]): string {
  let index = 0;
  const text = pattern.replace(CLAUSE, (clause, digits, verb) => {
    if (clause === "%%") return "%";
    if (verb === undefined) throw new Error("unexpected end of string");
    if (index >= values.length) throw new Error(`index ${index} out of range`);
    return formatted(values[index++], verb, digits === undefined ? 6 : Number(digits));
  });
  if (index < values.length)
    throw new Error(
      `too many arguments supplied to string.format (expected ${index}, got ${values.length})`,
    );
  return text;
}

function formatted(value: Value, verb: string, digits: number): string {
  const type = typeOf(value);
  const expectType = (types: string, text: string): void => {
    if (!types.split(" ").includes(type))
      throw new Error(`error during formatting: ${text}, was given ${type}`);
  };
  switch (verb) {
    case "s":
      expectType("string bool bytes int uint double map list type duration timestamp null", TEXT);
      return textOf(value);
    case "d":
      expectType("int uint", "decimal clause can only be used on integers");
      return wholeOf(value).toString();
    case "f":
      expectType("double", "fixed-point clause can only be used on doubles");
      return infinite(value) ?? fixed(value, digits);
    case "e":
      expectType("double", "scientific clause can only be used on doubles");
      return infinite(value) ?? powerOfTen(value.toExponential(digits));
    case "x":
    case "X":
      expectType(
        "int uint bytes string",
        "only integers, byte buffers, and strings can be converted to hex",
      );
      return verb === "X" ? hexOf(value).toUpperCase() : hexOf(value);
    case "o":
      expectType("int uint", "octal clause can only be used on integers");
      return wholeOf(value).toString(8);
    case "b":
      expectType("int uint bool", "only integers and bools can be formatted as binary");
      return wholeOf(value).toString(2);
    default:
      throw new Error(
        `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
      );
  }
}

const TEXT =
  "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps";

const TYPES: readonly (readonly [string, (value: Value) => boolean])[] = [
  ["null", (value) => value === null],
  ["list", Array.isArray],
  ["bytes", (value) => value instanceof Uint8Array],
  ["timestamp", isDate],
  ["map", isMap],
  ["string", (value) => typeof value === "string"],
  ["bool", (value) => typeof value === "boolean"],
  ["int", (value) => typeof value === "bigint"],
  ["double", (value) => typeof value === "number"],
  ["duration", ({ seconds }) => typeof seconds === "bigint"],
  ["type", (value) => /^Type</.test(String(value))],
  ["uint", (value) => value.constructor.name === "UnsignedInt"],
];

/** The name of the type of a value in CEL. */
function typeOf(value: Value): string {
  return TYPES.find(([, isOf]) => isOf(value))?.[0] ?? value.constructor.name;
}

function wholeOf(value: Value): bigint {
  return BigInt(value.valueOf());
}

function infinite(value: number): string | undefined {
  if (Number.isFinite(value)) return undefined;
  return Number.isNaN(value) ? "NaN" : `${value < 0 ? "-" : ""}∞`;
}

/** Rounded to even, if a number is exactly between two. */
function fixed(value: number, digits: number): string {
  const exact = value.toFixed(100);
  const end = exact.length - 100 + digits;
  if (!/^50*$/.test(exact.slice(end)) || !/[02468]\.?$/.test(exact.slice(0, end)))
    return value.toFixed(digits);
  return exact.slice(0, end).replace(/\.$/, "");
}

function hexOf(value: Value): string {
  if (typeof value === "string" || value instanceof Uint8Array)
    return Buffer.from(value as string).toString("hex");
  return wholeOf(value).toString(16);
}

/** `1.5e+3` as `1.5×10⁰³`. */
function powerOfTen(text: string): string {
  const [number, power = "0"] = text.split("e");
  const digits = power.replace(/[-+]/, "").padStart(2, "0");
  const raised = [...digits].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("");
  return `${number}×10${power.startsWith("-") ? "⁻" : ""}${raised}`;
}

/** A value within a list or a map. */
function memberText(value: Value): string {
  const text = typeof value === "number" ? (infinite(value) ?? decimal(value)) : textOf(value);
  const type = typeOf(value);
  if (type === "string") return JSON.stringify(text);
  if (type === "bytes") return `b${JSON.stringify(text)}`;
  return type === "duration" || type === "timestamp" ? `${type}(${JSON.stringify(text)})` : text;
}

function decimal(value: number): string {
  if (Math.abs(value) < 1e21) return fixed(value, 6);
  return `${BigInt(value)}.000000`;
}

function textOf(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(memberText).join(", ")}]`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (isDate(value)) return timeText(value);
  if (typeof value === "number") return numberText(value);
  if (typeof value?.seconds === "bigint") return durationText(value);
  const [, type] = /^Type<(.*)>$/.exec(String(value)) ?? [];
  return type ?? pairsText(value) ?? String(value);
}

function numberText(value: number): string {
  if (Math.abs(value) === Infinity) return value < 0 ? "-Inf" : "+Inf";
  return Object.is(value, -0) ? "-0" : String(value);
}

function isMap(value: Value): boolean {
  return value instanceof Map || value?.constructor === Object;
}

/** The text of a map. Undefined for other values. */
export function pairsText(value: Value): string | undefined {
  if (!isMap(value)) return undefined;
  const pairs: [Value, Value][] = value instanceof Map ? [...value] : Object.entries(value);
  const texts = pairs.map(([name, one]) => `${memberText(name)}:${memberText(one)}`);
  return `{${texts.sort().join(", ")}}`;
}
