// Tests of bad input, generated from tables. A row of a table is a door: a public function or class, a valid
// call of it, and the kind of each parameter. The kinds hold the bad values and the words of the errors.
import { readFileSync } from "node:fs";
import type { Kinds as KindsOfOptions, Kind as OptionKind } from "@holdfast/kit";
import { describe, expect, it } from "vitest";

/** A bad value for a parameter or an option, and the error that refuses it. */
interface Mistake {
  readonly path: string;
  readonly value: unknown;
  /** Undefined if any will do that names the path. */
  readonly error: string | undefined;
}

/** Makes the mistakes for one parameter or option. `valid` is its value in the valid call. */
export type Kind = (path: string, valid: unknown) => readonly Mistake[];

/** A value, and its text in an error message. */
type Shown = readonly [value: unknown, text: string];

function f(): void {}

/** Adds values that are allowed nowhere, and that JSON has no text for, to those of a kind that refuses any. */
function withOdd(kind: Kind): Kind {
  return (name, valid) => {
    const mistakes = kind(name, valid);
    const [first] = mistakes;
    if (first === undefined) return mistakes;
    const path = first.path.startsWith(name) ? name : first.path;
    const odd = [1n, Symbol("odd")].map((value) => ({ path, value, error: undefined }));
    return [...mistakes, ...odd];
  };
}

const NULL: Shown = [null, "null"];
const TEXT: Shown = ["1", '"1"'];
/** A text where none is allowed may be a secret. */
const HIDDEN_TEXT: Shown = ["1", "a string"];
const BIGINT: Shown = [1n, "1"];
const NUMBER: Shown = [5, "5"];
const TRUE: Shown = [true, "true"];
const OBJECT: Shown = [{}, "[object Object]"];
const ARRAY: Shown = [[5], "[object Array]"];
const DATE: Shown = [new Date(0), "[object Date]"];
const SYMBOL: Shown = [Symbol("five"), "Symbol(five)"];
const FUNCTION: Shown = [f, "function f"];
const ANONYMOUS: Shown = [(() => () => {})(), "function (anonymous)"];

const NOT_NUMBERS = [NULL, TEXT, BIGINT, TRUE, OBJECT, ARRAY, DATE, SYMBOL, FUNCTION, ANONYMOUS];

function refused(
  ErrorClass: typeof TypeError | typeof RangeError,
  allowed: string,
  values: readonly Shown[],
): Kind {
  return (path) =>
    values.map(([value, text]) => {
      return { path, value, error: `${ErrorClass.name}: ${path} must ${allowed}, got ${text}` };
    });
}

/** All mistakes of several kinds. */
export function all(...kinds: readonly Kind[]): Kind {
  return (path, valid) => kinds.flatMap((kind) => kind(path, valid));
}

/** Refuses one more value, in words of its own. */
export function except(value: unknown, error: string): Kind {
  return (path) => [{ path, value, error }];
}

/** Refuses a missing value too, in the words for `null` if the kind has none for it. */
export function required(kind: Kind): Kind {
  return (path, valid) => {
    const mistakes = kind(path, valid);
    if (mistakes.some(({ value }) => value === undefined)) return mistakes;
    const onNull = mistakes.find(({ value }) => value === null);
    if (onNull === undefined) throw new Error(`no mistake to derive a missing ${path} from`);
    const error = onNull.error?.replace(/null$/, "undefined");
    return [{ path: onNull.path, value: undefined, error }, ...mistakes];
  };
}

/** A parameter that its errors call by another name. */
export function named(name: string, kind: Kind): Kind {
  return (_, valid) => kind(name, valid);
}

/** A value that nothing checks. */
export const unchecked: Kind = () => [];

function numeric(allowed: string, ...bad: readonly number[]): Kind {
  return all(refused(TypeError, `be ${allowed}`, NOT_NUMBERS), outside(allowed, ...bad));
}

const { NaN: nan, POSITIVE_INFINITY: endless } = Number;

export const delay: Kind = numeric("a number of milliseconds", nan);
export const period: Kind = numeric("a number of milliseconds above 0", 0, -1, nan);
export const instant: Kind = numeric("an instant in milliseconds", nan);
export const finite: Kind = numeric("a finite number", nan, endless);
export const positive: Kind = numeric("a finite number above 0", 0, -1, nan, endless);
export const notNegative: Kind = numeric("a number of at least 0", -1, nan);

/** More numbers that are out of range, where one check follows another. */
export function outside(allowed: string, ...bad: readonly number[]): Kind {
  return refused(
    RangeError,
    `be ${allowed}`,
    bad.map((value) => [value, String(value)]),
  );
}

export function finiteFrom(least: number): Kind {
  return numeric(`a finite number of at least ${least}`, least - 0.1, nan, endless);
}

function above(bound: number): Kind {
  return numeric(`a number above ${bound}`, bound, bound - 1, nan);
}

export function between(least: number, most: number): Kind {
  return numeric(`a number from ${least} to ${most}`, least - 0.2, most + 0.2, nan);
}

export function whole(least: number): Kind {
  return numeric(`a whole number of at least ${least}`, least - 1, least + 0.5, nan);
}

export const count: Kind = all(finite, outside("a whole number of at least 1", 0, 1.5));

export const flag: Kind = refused(TypeError, "be true or false", [NULL, NUMBER, TEXT]);
export const func: Kind = refused(TypeError, "be a function", [
  NULL,
  NUMBER,
  HIDDEN_TEXT,
  TRUE,
  OBJECT,
]);
export const string: Kind = refused(TypeError, "be a string", [NULL, NUMBER, OBJECT, SYMBOL]);
export const text: Kind = all(string, refused(RangeError, "be a non-empty string", [["", '""']]));

export const signal: Kind = refused(TypeError, "be an AbortSignal", [
  NULL,
  NUMBER,
  OBJECT,
  [{ aborted: false }, "[object Object]"],
  [{ aborted: false, addEventListener: f }, "[object Object]"],
  [new AbortController(), "[object AbortController]"],
]);

/** An object with these methods: each is missed if those before it are there. */
export function methods(...names: readonly [string, ...string[]]): Kind {
  const [first] = names;
  const parts = names.map((name, index): Kind => {
    const part = Object.fromEntries(names.slice(0, index).map((present) => [present, f]));
    return refused(TypeError, `have a method ${name}()`, [[part, "[object Object]"]]);
  });
  return all(refused(TypeError, `have a method ${first}()`, [NULL, NUMBER, HIDDEN_TEXT]), ...parts);
}

/** The fields of a valid object, one of them bad. */
export function fields(kinds: Readonly<Record<string, Kind>>): Kind {
  return (path, valid) =>
    Object.entries(kinds).flatMap(([key, kind]) =>
      withOdd(kind)(`${path}.${key}`, (valid as Record<string, unknown> | undefined)?.[key]).map(
        ({ value, ...rest }) => ({ ...rest, value: { ...(valid as object), [key]: value } }),
      ),
    );
}

export const anyObject: Kind = refused(TypeError, "be an object", [
  NULL,
  NUMBER,
  HIDDEN_TEXT,
  FUNCTION,
]);

type Kinds<Type> = { readonly [Key in keyof Required<Type>]: Kind };

/** An object with a kind for each of its fields, and others of its own; the type asks for every field. */
export function data<Type extends object>(kinds: Kinds<Type>): Kind {
  return all(anyObject, fields(kinds));
}

const UNKNOWN = " is not an option of ";

const unknownOption: Kind = (path, valid) => [
  {
    path: `${path}.notAnOption`,
    value: { ...(valid as object | undefined), notAnOption: 1 },
    error: `TypeError: ${path}.notAnOption${UNKNOWN}`,
  },
];

/** Objects that have no options: they would pass a check that only refuses unknown options. */
function otherObjects(takesSignal: boolean, takesCause: boolean): Kind {
  const { signal: given } = new AbortController();
  const advice = takesSignal ? ": pass { signal }" : "";
  return refused(TypeError, "be an object", [
    [given, `an AbortSignal${advice}`],
    [[], "[object Array]"],
    [new Map([["signal", given]]), "[object Map]"],
    DATE,
    [Promise.resolve({}), "[object Promise]"],
    [new Error("down"), `[object Error]${takesCause ? ": pass { cause }" : ""}`],
  ]);
}

/** Options: an object with a kind for each, and without others; the type asks for every option. */
export function object<Type extends object>(kinds: Kinds<Type>): Kind {
  return all(data(kinds), unknownOption, otherObjects("signal" in kinds, "cause" in kinds));
}

const growth: Kind = object<
  Record<"duration" | "factor" | "jitter" | "steps" | "cap" | "capAfterJitter" | "random", 0>
>({
  duration: required(finiteFrom(0)),
  factor: positive,
  jitter: unchecked,
  steps: whole(0),
  cap: above(0),
  capAfterJitter: flag,
  random: func,
});

/** The option `backoff`: a strategy, or the options of a `Backoff`. */
export const backoff: Kind = (path, valid = { duration: 10 }) => [
  ...growth(path, valid),
  {
    path,
    value: { delayFunc: 1 },
    error: `TypeError: ${path} must have a method delayFunc(), got [object Object]`,
  },
];

/** The kinds of `@holdfast/kit`, by their names. */
const OF_SOURCE: Readonly<Record<string, (...bounds: never[]) => Kind>> = {
  above,
  anyObject: () => anyObject,
  anything: () => unchecked,
  abortSignal: () => signal,
  between,
  count: () => count,
  finite: () => finite,
  finiteFrom,
  flag: () => flag,
  func: () => func,
  loopClock: () => methods("monotonic", "newTimer", "afterFunc", "sleep"),
  methods,
  notNegative: () => notNegative,
  positive: () => positive,
  string: () => string,
  text: () => text,
  whole,
};

/**
 * The options of a door, by the table that reads them.
 *
 * @param own - the kinds that only this door or its package has, by name
 */
export function optionsOf<Type extends object>(
  kinds: KindsOfOptions<Type>,
  own: Readonly<Record<string, Kind>> = {},
): Kind {
  const testOf = ({ name, bounds, isRequired }: OptionKind): Kind => {
    const kind = own[name] ?? OF_SOURCE[name]?.(...(bounds as never[]));
    if (kind === undefined) throw new Error(`no bad values are known of the kind ${name}`);
    return isRequired && kind !== unchecked ? required(kind) : kind;
  };
  const entries = Object.entries<OptionKind>(kinds);
  return object<object>(Object.fromEntries(entries.map(([name, kind]) => [name, testOf(kind)])));
}

/** An array; the kind is that of its only element. */
export function arrayOf(kind: Kind): Kind {
  return (path, valid) => [
    ...refused(TypeError, "be an array", [NULL, NUMBER, HIDDEN_TEXT, OBJECT])(path, valid),
    ...kind(`${path}[0]`, (valid as readonly unknown[] | undefined)?.[0]).map(
      ({ value, ...rest }) => ({ ...rest, value: [value] }),
    ),
  ];
}

/** A row of the table. */
export interface Door {
  readonly name: string;
  /** The function, method or class that is tested. */
  readonly subject: unknown;
  readonly refusal: "throws" | "rejects";
  readonly call: (args: readonly unknown[]) => unknown;
  readonly mistakes: readonly (Mistake & { readonly args: readonly unknown[] })[];
}

type AnyFunction = (...args: never[]) => unknown;
type AnyClass = new (...args: never[]) => object;

/** The name and the kind of each parameter; the type asks for every parameter. */
type Parameter = readonly [name: string, kind: Kind];
type Each<Args extends readonly unknown[]> = {
  readonly [Index in keyof Required<Args>]: Parameter;
};

function mistakesOf(valid: readonly unknown[], parameters: readonly Parameter[]) {
  return parameters.flatMap(([name, kind], index) =>
    withOdd(kind)(name, valid[index]).map((mistake) => {
      const args = [...valid];
      args[index] = mistake.value;
      return { ...mistake, args };
    }),
  );
}

function functionDoor(
  refusal: Door["refusal"],
  subject: AnyFunction,
  { valid, on }: { readonly valid: readonly unknown[]; readonly on: unknown },
  parameters: readonly Parameter[],
): Door {
  return {
    name: subject.name,
    subject,
    refusal,
    call: (args) => Reflect.apply(subject, on, args) as unknown,
    mistakes: mistakesOf(valid, parameters),
  };
}

/** A function that throws. */
export function throws<Subject extends AnyFunction>(
  subject: Subject,
  valid: readonly unknown[],
  ...parameters: Each<Parameters<Subject>>
): Door {
  return functionDoor("throws", subject, { valid, on: undefined }, parameters as Parameter[]);
}

/** A function that returns a promise, and rejects it instead of throwing. */
export function rejects<Subject extends AnyFunction>(
  subject: Subject,
  valid: readonly unknown[],
  ...parameters: Each<Parameters<Subject>>
): Door {
  return functionDoor("rejects", subject, { valid, on: undefined }, parameters as Parameter[]);
}

/** A method of an object. */
export function method<On extends object>(
  on: On,
  name: keyof On & string,
  refusal: Door["refusal"],
  valid: readonly unknown[],
  ...parameters: readonly Parameter[]
): Door {
  return functionDoor(refusal, on[name] as AnyFunction, { valid, on }, parameters);
}

/** A class that is made with `new`. */
export function constructs<Subject extends AnyClass>(
  subject: Subject,
  valid: readonly unknown[],
  ...parameters: Each<ConstructorParameters<Subject>>
): Door {
  return {
    name: `new ${subject.name}`,
    subject,
    refusal: "throws",
    call: (args) => Reflect.construct(subject, args) as object,
    mistakes: mistakesOf(valid, parameters as Parameter[]),
  };
}

/** A test may fake the timers later. */
const realTimers = { setTimeout, clearTimeout };

/** Milliseconds. A call that takes longer has accepted its arguments. */
const LONGEST_CHECK = 5_000;

/** How a call refuses its arguments, or that it does not. */
async function refusalOf({ call }: Door, args: readonly unknown[]): Promise<string> {
  const worded = (how: string, error: unknown) =>
    error instanceof Error
      ? `${how} ${error.constructor.name}: ${error.message}`
      : `${how} no error`;
  let result: unknown;
  try {
    result = call(args);
  } catch (error) {
    return worded("throws", error);
  }
  if (!(result instanceof Promise)) return "returns";
  const settled = result.then(
    () => "resolves",
    (error: unknown) => worded("rejects", error),
  );
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pending = new Promise<string>((resolve) => {
    timer = realTimers.setTimeout(() => resolve("stays pending"), LONGEST_CHECK);
  });
  return await Promise.race([settled, pending]).finally(() => realTimers.clearTimeout(timer));
}

/** The error without its end: the name of a door and its options. */
function startOf(refusal: string): string {
  const at = refusal.indexOf(UNKNOWN);
  return at < 0 ? refusal : refusal.slice(0, at + UNKNOWN.length);
}

/** Tests each mistake of each door; `expectUntouched` looks for traces afterwards. */
export function testBadInput(doors: readonly Door[], expectUntouched: () => void): void {
  describe.each(doors)("$name refuses", (door) => {
    const paths = [...new Set(door.mistakes.map(({ path }) => path))];
    it.each(paths)("a bad %s", async (wanted) => {
      const mistakes = door.mistakes.filter(({ path }) => path === wanted);
      const seen: string[] = [];
      for (const { args } of mistakes) seen.push(startOf(await refusalOf(door, args)));
      const naming = expect.stringMatching(new RegExp(`^${door.refusal} .*${nameOf(wanted)}`));
      expect(seen).toEqual(
        mistakes.map(({ error }) => (error === undefined ? naming : `${door.refusal} ${error}`)),
      );
      expectUntouched();
    });
  });
}

/** The last name of a path, as a pattern. */
function nameOf(path: string): string {
  return path.replace(/^.*[.\]](?=\w)/, "").replace(/\W/g, "\\$&");
}

/** Whether the table shows that the door refuses an unknown option. */
function refusesUnknown({ mistakes }: Door): boolean {
  return mistakes.some(({ path }) => path === "options.notAnOption");
}

/** The parameters of a declaration, without those of functions among them. */
function parametersOf(declaration: string): string {
  let depth = 0;
  let text = "";
  for (const character of declaration) {
    if (character === "(") depth++;
    if (depth === 1) text += character;
    if (character === ")" && --depth === 0) break;
  }
  return text;
}

const OWNER = /^(?:export )?(?:abstract )?(?:class|interface) (\w+)/;
const CALLABLE = /^(?:export function| {4}(?:abstract )?)\s*([\w$]+)[<(]/;

/** The functions, classes and methods (as `Class.method`) of an API report that have a parameter `options`. */
function withOptions(report: string): string[] {
  let owner = "";
  return report.split("\n").flatMap((line) => {
    owner = OWNER.exec(line)?.[1] ?? owner;
    const name = CALLABLE.exec(line)?.[1];
    if (name === undefined || !/\boptions\??: /.test(parametersOf(line))) return [];
    if (name === "constructor") return [owner];
    return [line.startsWith("export") ? name : `${owner}.${name}`];
  });
}

/**
 * Tests that every exported function and class is a door, or one that takes every value; and that each with options
 * refuses an unknown one. `entries` are modules by the names of their API reports in `folder`.
 */
export function testEveryExport(
  folder: URL,
  entries: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  doors: readonly Door[],
  takeEverything: readonly unknown[],
): void {
  const pairs = Object.values(entries).flatMap((entry) => Object.entries(entry));
  const exported = new Map(pairs);

  it("the table has every exported function and class", () => {
    const subjects = new Set(doors.map(({ subject }) => subject));
    // A predicate of an error takes every value; tools/test/errors.test.ts calls all of them.
    const isOfErrors = (name: string): boolean => /^is\w+Error$/.test(name);
    const isMissing = ([name, value]: readonly [string, unknown]): boolean =>
      typeof value === "function" &&
      !subjects.has(value) &&
      !takeEverything.includes(value) &&
      !isOfErrors(name);
    expect(pairs.filter(isMissing).map(([name]) => name)).toEqual([]);
    const values = pairs.map(([, value]) => value);
    const isStale = (value: unknown): boolean =>
      typeof value !== "string" && (subjects.has(value) || !values.includes(value));
    expect(takeEverything.filter(isStale)).toEqual([]);
  });

  it("the table has an unknown option for every function, class and method with options", () => {
    const subjects = new Set(doors.filter(refusesUnknown).map(({ subject }) => subject));
    // The methods of a clock are bound.
    const methods = new Set(
      [...subjects].map((subject) => (subject as AnyFunction).name.replace(/^bound /, "")),
    );
    const isSilent = (door: string): boolean => {
      const [name = "", member] = door.split(".");
      const value = exported.get(name);
      if (takeEverything.includes(value) || takeEverything.includes(door)) return false;
      // Nobody constructs a class that is exported as a type only.
      if (member === undefined) return value !== undefined && !subjects.has(value);
      // A type has no prototype: a method of that name must do.
      if (value === undefined) return !methods.has(member);
      return !subjects.has((value as AnyClass).prototype[member]);
    };
    const reports = Object.keys(entries).map((name) =>
      readFileSync(new URL(`${name}.api.txt`, folder), "utf8"),
    );
    expect(reports.flatMap(withOptions).filter(isSilent)).toEqual([]);
  });
}
