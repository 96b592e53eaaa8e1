import {
  requireAbove,
  requireAtLeast,
  requireBetween,
  requireBoolean,
  requireClock,
  requireCount,
  requireFinite,
  requireFunction,
  requireMethods,
  requireNotNegative,
  requireObject,
  requireOptions,
  requirePositive,
  requireSignal,
  requireString,
  requireText,
  requireWhole,
} from "./arguments.ts";

/** The values that an option may have. A test makes bad ones of `name` and `bounds`. */
export interface Kind {
  readonly name: string;
  readonly bounds: readonly unknown[];
  /** Whether the option may not be missing. */
  readonly isRequired: boolean;
  /** Throws for a bad value. */
  readonly check: (path: string, value: never) => unknown;
}

/** The kind of an option without which the door throws. */
export interface RequiredKind extends Kind {
  readonly isRequired: true;
}

/** The kind of each option of a door: the type asks for all of them, and for those that are required. */
export type Kinds<Options> = {
  readonly [Name in keyof Options]-?: Options extends Record<Name, Options[Name]>
    ? RequiredKind
    : Kind;
};

/**
 * Reads each option once and checks it.
 *
 * @param path - of the options, for errors
 * @param door - the function or class that has them
 * @throws TypeError or RangeError that names the option, its value and the values that are allowed
 */
export function read<Options extends object>(
  path: string,
  options: Options,
  door: string,
  kinds: Kinds<NoInfer<Options>>,
): Options {
  requireOptions(path, options, door, kinds);
  const values = {} as Options;
  for (const name of Object.keys(kinds) as (keyof Options)[]) {
    const value = options[name];
    const { isRequired, check } = kinds[name];
    if (isRequired || value !== undefined) check(`${path}.${String(name)}`, value as never);
    values[name] = value;
  }
  return values;
}

/**
 * A kind of its own.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function kind<Value>(
  name: string,
  check: (path: string, value: Value) => unknown,
  ...bounds: readonly unknown[]
): Kind {
  return { name, bounds, isRequired: false, check };
}

/** An option without which the door throws. */
export function required(optional: Kind): RequiredKind {
  return { ...optional, isRequired: true };
}

/** An option that the door checks itself, because it makes something of it. */
export function parsed(name: string): Kind {
  return kind(name, () => {});
}

/** An option of which every value is allowed. */
export const anything: Kind = parsed("anything");

export const flag: Kind = kind("flag", requireBoolean);
export const func: Kind = kind("func", requireFunction);
export const abortSignal: Kind = kind("abortSignal", requireSignal);
export const loopClock: Kind = kind("loopClock", requireClock);
export const anyObject: Kind = kind("anyObject", requireObject);
export const string: Kind = kind("string", requireString);
export const text: Kind = kind("text", requireText);
export const finite: Kind = kind("finite", requireFinite);
export const notNegative: Kind = kind("notNegative", requireNotNegative);
export const positive: Kind = kind("positive", requirePositive);

export function above(bound: number): Kind {
  return kind<number>("above", (path, value) => requireAbove(path, value, bound), bound);
}

/** A finite number of at least `least`. */
export function finiteFrom(least: number): Kind {
  return kind<number>("finiteFrom", (path, value) => requireAtLeast(path, value, least), least);
}

export function between(least: number, most: number): Kind {
  const check = (path: string, value: number): number => requireBetween(path, value, least, most);
  return kind("between", check, least, most);
}

/** A whole number of at least `least`, or `Infinity`. */
export function whole(least: number): Kind {
  return kind<number>("whole", (path, value) => requireWhole(path, value, least), least);
}

/** A finite whole number of at least 1. */
export const count: Kind = kind("count", requireCount);

export function methods(...names: readonly string[]): Kind {
  return kind("methods", (path, value) => requireMethods(path, value, names), ...names);
}
