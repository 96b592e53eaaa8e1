import { Backoff, type BackoffStrategy } from "@holdfast/wait";
import * as exported from "@holdfast/wait/strategies";
import { finiteFrom, type Kind } from "../../../test/bad-input.ts";

/** The values that an option `jitter` may have. */
export const jitterForm: Kind = (path, valid) =>
  finiteFrom(0)(path, valid).map((mistake) => {
    const allowed = 'a finite number of at least 0, "full" or "equal"';
    const error = `RangeError: ${path} must be ${allowed}, got "1"`;
    return mistake.value === "1" ? { ...mistake, error } : mistake;
  });

type Exports = typeof exported;

type StrategyName = {
  [Name in keyof Exports]: Exports[Name] extends new (
    options: never,
  ) => BackoffStrategy
    ? Name
    : never;
}[keyof Exports];

type OptionsOf<Name extends StrategyName> = NonNullable<ConstructorParameters<Exports[Name]>[0]>;

/** A strategy for the tests that hold for all of them. */
interface Row<Options> {
  /** A value for each option, none of them its default. */
  readonly options: { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };
  /** Whether `new Strategy()` is an error. */
  readonly needsOptions: boolean;
}

const random = (): number => 0.75;
const spread = { cap: 700, jitter: 0.5, capAfterJitter: true, random };

/** Every strategy of `/strategies`: the compiler asks for the row of a new one. */
const ROWS: { readonly [Name in StrategyName]: Row<OptionsOf<Name>> } = {
  AttemptBackoff: {
    options: { duration: 100, factor: 3, cap: 700, spread: true, random },
    needsOptions: false,
  },
  BinaryExponentialBackoff: {
    options: { slotTime: 100, backoffLimit: 2, attemptLimit: 9, random },
    needsOptions: true,
  },
  DecorrelatedJitterBackoff: {
    options: { duration: 100, factor: 2, cap: 700, random },
    needsOptions: true,
  },
  GrpcBackoff: {
    options: { duration: 100, factor: 3, ...spread },
    needsOptions: false,
  },
  SymmetricJitterBackoff: {
    options: { duration: 100, factor: 3, steps: 5, ...spread },
    needsOptions: false,
  },
};

/** A class of strategies for the tests that hold for all of them. */
export interface StrategyCase {
  readonly Strategy: new (options: never) => BackoffStrategy;
  readonly options: object;
  /** Its parameter, for the table of bad input. */
  readonly declared: string;
}

/** The strategies of `/strategies`. */
export const FURTHER_STRATEGIES: readonly StrategyCase[] = Object.entries(ROWS).map(
  ([name, { options, needsOptions }]) => {
    const table = name.replaceAll(/(?<=.)[A-Z]/g, "_$&").toUpperCase();
    return {
      Strategy: Reflect.get(exported, name) as StrategyCase["Strategy"],
      options,
      declared: `options${needsOptions ? "" : "?"}: ${table}_OPTIONS`,
    };
  },
);

/** All strategies: class and options. */
export const STRATEGIES: readonly Omit<StrategyCase, "declared">[] = [
  { Strategy: Backoff, options: { duration: 100, factor: 3, steps: 5, ...spread } },
  ...FURTHER_STRATEGIES,
];
