import { goJson, isObject } from "./json.ts";

/** One field that is wrong, and why. */
export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** A field that must be there. */
export function required(field: string, message: string): Cause {
  const text = message === "" ? "Required value" : `Required value: ${message}`;
  return { reason: "FieldValueRequired", message: text, field };
}

/** A field that has a wrong value. */
export function wrong(field: string, value: unknown, message: string): Cause {
  const shown = typeof value === "string" ? goQuote(value) : goNumber(value);
  const text = `Invalid value: ${shown}: ${message}`;
  return { reason: "FieldValueInvalid", message: text, field };
}

/** A text in quotes, as Go writes it. */
function goQuote(text: string): string {
  return JSON.stringify(text).replace(
    /\\u00(1\w|0\w)|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu,
    (part, control?: string) => {
      if (control === "0b") return "\\v";
      if (control === "07") return "\\a";
      if (control !== undefined) return `\\x${control}`;
      const code = (part.codePointAt(0) as number).toString(16);
      if (code.length <= 2 && part < "\u0080") return `\\x${code}`;
      return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
    },
  );
}

/** A value as Go writes it: large numbers with an exponent. */
function goNumber(value: unknown): string {
  const isLarge = typeof value === "number" && Math.abs(value) >= 2 ** 63;
  return isLarge ? value.toExponential() : goJson(value);
}

/** The type of a value, as Go names it. */
export function goType(value: unknown): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (isObject(value)) return "map[string]interface {}";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** A value as Go prints it with `%v`. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (!isObject(value)) return value === null ? "<nil>" : String(value);
  const entries = Object.entries(value).map(([name, one]) => `${name}:${goText(one)}`);
  return `map[${entries.sort().join(" ")}]`;
}
