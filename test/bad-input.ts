// Tests of bad input, generated from tables. A row of a table is a door: a public function or class, a valid
// call of it, and the kind of each parameter. The kinds hold the bad values and the words of the errors.
import { readdirSync, readFileSync } from "node:fs";
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

/** For calls that have to be refused. */
export const f = (): never => {
  throw new Error("a call with bad arguments must not get this far");
};

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

/** Refuses more values, in words of its own. In these, `PATH` is the path, and `GOT` the value as JSON. */
export function refuses(error: string, ...values: readonly unknown[]): Kind {
  return (path) =>
    values.map((value) => {
      const got = /GOT/.test(error) ? JSON.stringify(value) : "";
      return { path, value, error: error.replaceAll("PATH", path).replace("GOT", () => got) };
    });
}

/** Refuses a missing value too, in the words for `null` if the kind has none for it. */
export function required(kind: Kind): Kind {
  if (kind === unchecked) return kind;
  return (path, valid) => {
    const mistakes = kind(path, valid);
    if (mistakes.some(({ value }) => value === undefined)) return mistakes;
    const onNull = mistakes.find(({ value }) => value === null);
    if (onNull === undefined) throw new Error(`no mistake to derive a missing ${path} from`);
    const error = onNull.error?.replace(/null$/, "undefined");
    return [{ path: onNull.path, value: undefined, error }, ...mistakes];
  };
}

/** A value that nothing checks. */
export const unchecked: Kind = () => [];

function numeric(allowed: string, ...bad: readonly number[]): Kind {
  return all(refused(TypeError, `be ${allowed}`, NOT_NUMBERS), outside(allowed, ...bad));
}

const { NaN: nan, POSITIVE_INFINITY: endless } = Number;

const delay: Kind = numeric("a number of milliseconds", nan);
const period: Kind = numeric("a number of milliseconds above 0", 0, -1, nan);
const instant: Kind = numeric("an instant in milliseconds", nan);
export const finite: Kind = numeric("a finite number", nan, endless);
const positive: Kind = numeric("a finite number above 0", 0, -1, nan, endless);
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

const flag: Kind = refused(TypeError, "be true or false", [NULL, NUMBER, TEXT]);
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
  delay: () => delay,
  finite: () => finite,
  period: () => period,
  finiteFrom,
  flag: () => flag,
  func: () => func,
  instant: () => instant,
  loopClock: () => methods("monotonic", "newTimer", "afterFunc", "sleep"),
  methods,
  notNegative: () => notNegative,
  positive: () => positive,
  string: () => string,
  text: () => text,
  whole,
};

/** Kinds by their names. In place of a kind stands its text, as in {@link kindOf}. */
type Named = Readonly<Record<string, Kind | string>>;

/** Tables of options by their names, without those that have one name. */
type Tables = ReadonlyMap<string, KindsOfOptions<object> | undefined>;

const KIND = /^(\w+)(?:\((.*)\))?(\[\])?$/;

/** The kind with a text: `text`, `finiteFrom(0)`, `methods(get, set)`, a table of options, or a list as `text[]`. */
function kindOf(text: string, own: Named, tables: Tables): Kind {
  const [, name = "", bounds, list] = KIND.exec(text) ?? [];
  const values = bounds?.split(", ").map((bound) => (/\d/.test(bound) ? Number(bound) : bound));
  const table = tables.get(name);
  const kind =
    table === undefined ? kindNamed(name, own, tables, values) : optionsOf(table, own, tables);
  return list === undefined ? kind : arrayOf(kind);
}

function kindNamed(
  name: string,
  own: Named,
  tables: Tables,
  bounds: readonly unknown[] = [],
): Kind {
  const kind = own[name] ?? OF_SOURCE[name]?.(...(bounds as never[]));
  if (kind === undefined) throw new Error(`no bad values are known of the kind ${name}`);
  return typeof kind === "string" ? kindOf(kind, own, tables) : kind;
}

/** The tables of the options of doors. */
const walked = new Set<KindsOfOptions<object>>();

/**
 * The options of a door, by the table that reads them.
 *
 * @param own - the kinds that only this door or its package has
 */
export function optionsOf<Type extends object>(
  kinds: KindsOfOptions<Type>,
  own: Named = {},
  tables: Tables = new Map(),
): Kind {
  walked.add(kinds);
  const testOf = ({ name, bounds, isRequired }: OptionKind): Kind => {
    const kind = kindNamed(name, own, tables, bounds);
    return isRequired ? required(kind) : kind;
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
  /** How many there are. */
  readonly parameters: number;
  readonly mistakes: readonly (Mistake & { readonly args: readonly unknown[] })[];
}

type AnyFunction = (...args: never[]) => unknown;
type AnyClass = new (...args: never[]) => object;

/**
 * The arguments of a valid call, and the parameters as in a declaration, with the text of a kind in place of a type:
 * `fn: func, period: finiteFrom(0), options?: EVERY_OPTIONS`. Then kinds that only this door has.
 */
type Call = readonly [valid: readonly unknown[], declared: string, own?: Named];

const PARAMETER = /([^:?]+)(\??): ((?:\([^)]*\)|[^,(])+)(?:, |$)/gy;

/** What a table of doors is made with. */
interface Doors {
  /** The kind of a table of options. */
  options(table: string, own?: Named): Kind;
  /** A class that is made with `new`. */
  constructs(subject: AnyClass, ...call: Call): Door;
  /** A function that throws. */
  throws(subject: AnyFunction, ...call: Call): Door;
  /** A function that returns a promise, and rejects it instead of throwing. */
  rejects(subject: AnyFunction, ...call: Call): Door;
  /** A method of an object. */
  method<On extends object>(
    on: On,
    name: keyof On & string,
    refusal: Door["refusal"],
    ...call: Call
  ): Door;
}

const TABLE = /^export const (\w+): Kinds</gm;

/** The exported tables of options below a folder. */
async function tablesBelow(folder: URL): Promise<Tables> {
  const tables = new Map<string, KindsOfOptions<object> | undefined>();
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const url = new URL(file, folder);
    const names = file.endsWith(".ts") ? [...readFileSync(url, "utf8").matchAll(TABLE)] : [];
    if (names.length === 0) continue;
    const exported = (await import(url.href)) as Record<string, KindsOfOptions<object>>;
    for (const [, name = ""] of names)
      tables.set(name, tables.has(name) ? undefined : exported[name]);
  }
  return tables;
}

/**
 * What a table of doors of a package is made with.
 *
 * @param sources - the folder of its sources, whose tables of options the doors name
 * @param own - the kinds that only this package has
 */
export async function doorsOf(sources: URL, own: Named = {}): Promise<Doors> {
  const tables = await tablesBelow(sources);
  const mistakesOf = (
    valid: readonly unknown[],
    index: number,
    [, name = "", optional, text = ""]: readonly string[],
    more?: Named,
  ): Door["mistakes"] => {
    const kind = kindOf(text, { ...own, ...more }, tables);
    return withOdd(optional === "?" ? kind : required(kind))(name, valid[index]).map((mistake) => {
      return { ...mistake, args: Object.assign([...valid], { [index]: mistake.value }) };
    });
  };
  const ofFunction =
    (refusal: Door["refusal"], on?: object) =>
    (subject: AnyFunction, ...[valid, declared, more]: Call): Door => {
      const parameters = [...declared.matchAll(PARAMETER)];
      if (parameters.map(([all]) => all).join("") !== declared) throw new Error(declared);
      return {
        name: subject.name,
        subject,
        refusal,
        call: (args) => Reflect.apply(subject, on, args) as unknown,
        parameters: parameters.length,
        mistakes: parameters.flatMap((parameter, index) =>
          mistakesOf(valid, index, parameter, more),
        ),
      };
    };
  return {
    options: (table, more) => kindOf(table, { ...own, ...more }, tables),
    throws: ofFunction("throws"),
    rejects: ofFunction("rejects"),
    method: (on, name, refusal, ...call) =>
      ofFunction(refusal, on)(on[name] as AnyFunction, ...call),
    constructs: (subject, ...call) => ({
      ...ofFunction("throws")(subject as unknown as AnyFunction, ...call),
      name: `new ${subject.name}`,
      call: (args) => Reflect.construct(subject, args) as object,
    }),
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

/** How many parameters each exported function or class may have, by its name. */
function parameterCounts(report: string): Map<string, number[]> {
  const counts = new Map<string, number[]>();
  let owner = "";
  for (const line of report.split("\n")) {
    owner = OWNER.exec(line)?.[1] ?? owner;
    const name = CALLABLE.exec(line)?.[1];
    const door = name === "constructor" ? owner : line.startsWith("export") ? name : undefined;
    if (door === undefined) continue;
    let depth = 0;
    let count = 0;
    for (const character of parametersOf(line).slice(1).replaceAll("=>", "")) {
      if (/[<{[]/.test(character)) depth++;
      if (/[>}\]]/.test(character)) depth--;
      if (character === ":" && depth === 0) count++;
    }
    counts.set(door, [...(counts.get(door) ?? []), count]);
  }
  return counts;
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
  const reports = Object.keys(entries).map((name) =>
    readFileSync(new URL(`${name}.api.txt`, folder), "utf8"),
  );

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

  it("the table has every exported table of options", async () => {
    const tables = [...(await tablesBelow(new URL("../src/", folder)))];
    // A table may be a part of others.
    const isLeft = ([name, table = {}]: (typeof tables)[number]): boolean =>
      !takeEverything.includes(name) &&
      ![...walked].some((whole) =>
        Object.entries(table).every(([option, kind]) => Reflect.get(whole, option) === kind),
      );
    expect(tables.filter(isLeft).map(([name]) => name)).toEqual([]);
  });

  it("the table has every parameter of every exported function and class", () => {
    const counts = parameterCounts(reports.join("\n"));
    const isShort = ([name, value]: readonly [string, unknown]): boolean =>
      doors.some(
        ({ subject, parameters }) =>
          subject === value && counts.get(name)?.includes(parameters) === false,
      );
    expect(pairs.filter(isShort).map(([name]) => name)).toEqual([]);
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
    expect(reports.flatMap(withOptions).filter(isSilent)).toEqual([]);
  });
}
