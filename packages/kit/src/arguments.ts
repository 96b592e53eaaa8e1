import { isThenable } from "./call-safely.ts";
import { isPlain, requireKnown } from "./option-names.ts";

export type { OptionNames } from "./option-names.ts";

/** Formats a rejected value for an error message: any value, also one that JSON has no text for. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "function") return `function ${value.name || "(anonymous)"}`;
  if (typeof value === "object" && value !== null) return Object.prototype.toString.call(value);
  return String(value);
}

/** The same where no text is allowed: it may be a token, or an address with a password. */
function showKind(value: unknown): string {
  return typeof value === "string" ? "a string" : show(value);
}

function complaint(name: string, allowed: string, shown: string): string {
  return `${name} must be ${allowed}, got ${shown}`;
}

/** The error for a bad number: a `RangeError` for a number, otherwise a `TypeError`. */
function mistake(name: string, allowed: string, value: unknown): Error {
  const ErrorClass = typeof value === "number" ? RangeError : TypeError;
  return new ErrorClass(complaint(name, allowed, show(value)));
}

/** Returns the delay to use: below 0 becomes 0. */
export function requireDelay(name: string, value: number): number {
  if (typeof value !== "number" || Number.isNaN(value))
    throw mistake(name, "a number of milliseconds", value);
  return Math.max(value, 0);
}

export function requirePeriod(name: string, value: number): number {
  if (!(typeof value === "number" && value > 0))
    throw mistake(name, "a number of milliseconds above 0", value);
  return value;
}

export function requireInstant(name: string, value: number): number {
  if (typeof value !== "number" || Number.isNaN(value))
    throw mistake(name, "an instant in milliseconds", value);
  return value;
}

export function requireFinite(name: string, value: number): number {
  if (!Number.isFinite(value)) throw mistake(name, "a finite number", value);
  return value;
}

export function requireWhole(name: string, value: number, minimum: number): number {
  if (!(Number.isInteger(value) || value === Number.POSITIVE_INFINITY) || value < minimum)
    throw mistake(name, `a whole number of at least ${minimum}`, value);
  return value;
}

/** A whole number of at least 1 of things that there are: not endless. */
export function requireCount(name: string, value: number): number {
  return requireWhole(name, requireFinite(name, value), 1);
}

/** How an object with options shows itself: a plain one, an instance of a class, a module. */
const OF_OPTIONS: ReadonlySet<string> = new Set([
  "[object Object]",
  "[object Module]",
  "[object AbortController]", // its `signal` is the option
]);

export function requireFunction(name: string, value: unknown): void {
  if (typeof value !== "function")
    throw new TypeError(complaint(name, "a function", showKind(value)));
}

/**
 * Checks that a value is an object that can have options, and with `names` that it has no unknown one. A signal, an
 * array, a Map or a Date has none: taken for options it would be ignored.
 *
 * @param door - the function or class that has the options, for the error
 * @param names - its options
 */
export function requireOptions(name: string, value: unknown, door?: string, names?: object): void {
  if (typeof value !== "object" || value === null)
    throw new TypeError(complaint(name, "an object", showKind(value)));
  // A plain object is not read here: an option may be a getter.
  if (!isPlain(value)) requireCarrier(name, value, names);
  if (door !== undefined && names !== undefined) requireKnown(name, value, door, names);
}

function requireCarrier(name: string, value: object, names: object = {}): void {
  if (isSignal(value)) {
    const advice = Object.hasOwn(names, "signal") ? ": pass { signal }" : "";
    throw new TypeError(`${name} must be an object, got an AbortSignal${advice}`);
  }
  const shown = showKind(value);
  if (OF_OPTIONS.has(shown)) return;
  const isCause = shown === "[object Error]" && Object.hasOwn(names, "cause");
  throw new TypeError(
    `${complaint(name, "an object", showKind(value))}${isCause ? ": pass { cause }" : ""}`,
  );
}

/** Checks the options of a timer now: a label of another type would fail later, when a report prints it. */
export function requireTimerOptions(
  options: { readonly label?: unknown },
  door: string,
  names: object,
): void {
  requireOptions("options", options, door, names);
  const { label } = options;
  if (label !== undefined) requireString("options.label", label);
}

export function requireString(name: string, value: unknown): void {
  if (typeof value !== "string") throw new TypeError(complaint(name, "a string", show(value)));
}

/** One of a few words. */
export function requireWord(name: string, value: unknown, ...words: readonly string[]): void {
  const quoted = words.map(show);
  const allowed = `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
  if (!words.includes(value as string)) throw new RangeError(complaint(name, allowed, show(value)));
}

export function requireText(name: string, value: unknown): void {
  requireString(name, value);
  if (value === "") throw new RangeError(complaint(name, "a non-empty string", show(value)));
}

export function requireArray(name: string, value: unknown): void {
  if (!Array.isArray(value)) throw new TypeError(complaint(name, "an array", showKind(value)));
}

/** Accepts every object that behaves like an `AbortSignal`, from any realm. */
export function requireSignal(name: string, value: AbortSignal): void {
  if (!isSignal(value)) throw new TypeError(complaint(name, "an AbortSignal", showKind(value)));
}

function isSignal(value: unknown): boolean {
  const signal = value as Partial<AbortSignal> | null | undefined;
  const listens =
    typeof signal?.addEventListener === "function" &&
    typeof signal.removeEventListener === "function";
  return listens && typeof signal.aborted === "boolean";
}

export function requireAtLeast(name: string, value: number, minimum: number): number {
  if (!(Number.isFinite(value) && value >= minimum))
    throw mistake(name, `a finite number of at least ${minimum}`, value);
  return value;
}

export function requireBetween(
  name: string,
  value: number,
  minimum: number,
  maximum: number,
): number {
  if (!(typeof value === "number" && value >= minimum && value <= maximum))
    throw mistake(name, `a number from ${minimum} to ${maximum}`, value);
  return value;
}

export function requireNotNegative(name: string, value: number): number {
  if (!(typeof value === "number" && value >= 0))
    throw mistake(name, "a number of at least 0", value);
  return value;
}

export function requireAbove(name: string, value: number, bound: number): number {
  if (!(typeof value === "number" && value > bound))
    throw mistake(name, `a number above ${bound}`, value);
  return value;
}

export function requirePositive(name: string, value: number): number {
  if (!(Number.isFinite(value) && value > 0)) throw mistake(name, "a finite number above 0", value);
  return value;
}

export function requireBoolean(name: string, value: unknown): void {
  if (typeof value !== "boolean")
    throw new TypeError(complaint(name, "true or false", show(value)));
}

/** The answer of a function of the user that is not awaited: a Promise would count as true. */
export function requireAnswer(name: string, answer: boolean): boolean {
  if (!isThenable(answer)) return answer;
  void Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(`${name} must return true or false, got a Promise`);
}

/** Accepts every object with these methods, from any copy of a package. */
export function requireObject(name: string, value: unknown): void {
  if (typeof value !== "object" || value === null)
    throw new TypeError(complaint(name, "an object", showKind(value)));
}

export function requireMethods(name: string, value: unknown, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  for (const method of methods) {
    if (typeof object[method] !== "function")
      throw new TypeError(`${name} must have a method ${method}(), got ${showKind(value)}`);
  }
}

/** Accepts every object with the methods of a clock that loops call. */
export function requireClock(name: string, value: unknown): void {
  requireMethods(name, value, ["monotonic", "newTimer", "afterFunc", "sleep"]);
}

/** Checks that each of these options is a function or missing. */
export function requireHooks(name: string, hooks: Readonly<Record<string, unknown>>): void {
  for (const [hook, value] of Object.entries(hooks))
    if (value !== undefined) requireFunction(`${name}.${hook}`, value);
}
