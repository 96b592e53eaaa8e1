import type { Kinds } from "@holdfast/kit";
import { Backoff, type BackoffStrategy } from "@holdfast/wait";
import * as exported from "@holdfast/wait/strategies";
import { finiteFrom, type Kind, optionsOf, required } from "../../../test/bad-input.ts";
import { ATTEMPT_BACKOFF_OPTIONS } from "../src/strategies/attempt-backoff.ts";
import { BINARY_EXPONENTIAL_BACKOFF_OPTIONS } from "../src/strategies/binary-exponential-backoff.ts";
import { DECORRELATED_JITTER_BACKOFF_OPTIONS } from "../src/strategies/decorrelated-jitter-backoff.ts";
import { GRPC_BACKOFF_OPTIONS } from "../src/strategies/grpc-backoff.ts";
import { SYMMETRIC_JITTER_BACKOFF_OPTIONS } from "../src/strategies/symmetric-jitter-backoff.ts";

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
  /** The values that the options may have. */
  readonly kinds: Kinds<Options>;
  /** Whether `new Strategy()` is an error. */
  readonly needsOptions: boolean;
}

const random = (): number => 0.75;
const spread = { cap: 700, jitter: 0.5, capAfterJitter: true, random };

/** Every strategy of `/strategies`: the compiler asks for the row of a new one. */
const ROWS: { readonly [Name in StrategyName]: Row<OptionsOf<Name>> } = {
  AttemptBackoff: {
    options: { duration: 100, factor: 3, cap: 700, spread: true, random },
    kinds: ATTEMPT_BACKOFF_OPTIONS,
    needsOptions: false,
  },
  BinaryExponentialBackoff: {
    options: { slotTime: 100, backoffLimit: 2, attemptLimit: 9, random },
    kinds: BINARY_EXPONENTIAL_BACKOFF_OPTIONS,
    needsOptions: true,
  },
  DecorrelatedJitterBackoff: {
    options: { duration: 100, factor: 2, cap: 700, random },
    kinds: DECORRELATED_JITTER_BACKOFF_OPTIONS,
    needsOptions: true,
  },
  GrpcBackoff: {
    options: { duration: 100, factor: 3, ...spread },
    kinds: GRPC_BACKOFF_OPTIONS,
    needsOptions: false,
  },
  SymmetricJitterBackoff: {
    options: { duration: 100, factor: 3, steps: 5, ...spread },
    kinds: SYMMETRIC_JITTER_BACKOFF_OPTIONS,
    needsOptions: false,
  },
};

/** A class of strategies for the tests that hold for all of them. */
export interface StrategyCase {
  readonly Strategy: new (options: never) => BackoffStrategy;
  readonly options: object;
  readonly kind: Kind;
}

/** The strategies of `/strategies`. */
export const FURTHER_STRATEGIES: readonly StrategyCase[] = Object.entries(ROWS).map(
  ([name, { options, kinds, needsOptions }]) => {
    const kind = optionsOf(kinds as Kinds<object>, { jitterForm });
    return {
      Strategy: Reflect.get(exported, name) as StrategyCase["Strategy"],
      options,
      kind: needsOptions ? required(kind) : kind,
    };
  },
);

/** All strategies: class and options. */
export const STRATEGIES: readonly Omit<StrategyCase, "kind">[] = [
  { Strategy: Backoff, options: { duration: 100, factor: 3, steps: 5, ...spread } },
  ...FURTHER_STRATEGIES,
];
