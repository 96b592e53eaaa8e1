import type { Clock } from "@holdfast/clock";
import {
  type OptionNames,
  requireArray,
  requireFunction,
  requireHooks,
  requireOptions,
  requirePositive,
  requireText,
  requireWhole,
} from "@holdfast/clock/internal";
import type { Random } from "@holdfast/wait";
import type { StepOptions } from "./step.ts";

/** Options that every explorer has. */
export interface ExploreSettings<State> {
  /**
   * Called with the state after each step that changed it. An error it throws ends the exploration.
   *
   * @defaultValue none
   */
  readonly invariant?: ((state: State) => void) | undefined;

  /**
   * Judges the last state of a world with faults: `"same"` as without, or a function that throws.
   *
   * @defaultValue `"same"`
   */
  readonly expect?: "same" | ((state: State, reference: State) => void) | undefined;

  /**
   * Types of faults to leave out, for example `["response-lost"]`.
   *
   * @defaultValue none
   */
  readonly faults?: readonly string[] | undefined;

  /**
   * Runs one world alone, by the name that the report gives it, for example `"crash-after:4"`.
   *
   * @defaultValue all worlds
   */
  readonly only?: string | undefined;

  /**
   * The maximum number of worlds. If there are more, some of each type of fault are drawn. Whole, at least 1.
   *
   * @defaultValue `1_000`
   */
  readonly worlds?: number | undefined;

  /**
   * Number of worlds with two faults, drawn. Whole, at least 0.
   *
   * @defaultValue `0`
   */
  readonly pairs?: number | undefined;

  /**
   * Number of replicas that run side by side, of which one leads. From 2 on there are worlds in which a replica stands
   * still for a minute after a step, loses its lease, and goes on. Whole, at least 1.
   *
   * @defaultValue `1`
   */
  readonly replicas?: number | undefined;

  /**
   * Time without a change after which a world is over, in milliseconds of its clock. Above 0.
   *
   * @defaultValue `600_000`
   */
  readonly quiet?: number | undefined;

  /**
   * Seed of all randomness. A whole number.
   *
   * @defaultValue `1`
   */
  readonly seed?: number | undefined;
}

/** What a world is made with. */
export interface WorldContext {
  /** The clock of the world. */
  readonly clock: Clock;

  /** Randomness of the world, the same in every run. */
  readonly random: Random;
}

/** What a program gets. A replica that crashes is gone at once: its timers, and its calls of linked systems, never end. */
export interface ProgramContext<World> {
  /** The world in which the program runs. */
  readonly world: World;

  /** The clock that the program must use. */
  readonly clock: Clock;

  /** Source of jitter that the program must use. */
  readonly random: Random;

  /** Aborts when the program should stop. */
  readonly signal: AbortSignal;

  /**
   * A system outside of the program, each call of which is a step that faults can meet. Every method of it returns a
   * promise then.
   *
   * @param system - an object with methods, or a function
   * @param name - name of the system in reports
   */
  readonly link: <System extends object>(system: System, name: string) => System;

  /**
   * Does a step that faults can meet, for systems to which `link` does not fit. Never settles after a crash.
   *
   * @param options - see {@link StepOptions}
   * @param perform - does the step
   */
  readonly step: <Value>(
    options: StepOptions<Value>,
    perform: () => Promise<Value>,
  ) => Promise<Value>;

  /** Number of the replica, from 1, for its identity. */
  readonly replica: number;

  /** Aborts when the replica crashes, so that fakes can see its connections end. */
  readonly crashed: AbortSignal;

  /** Resolves when the replica does not stand still, for responses that are no steps. Never after a crash. */
  readonly awake: () => Promise<void>;
}

/** Options for {@link explore}. */
export interface ExploreOptions<World, State = unknown> extends ExploreSettings<State> {
  /** Makes the systems outside of the program: fakes, on the clock of the world. Called once for each world. */
  readonly world: (context: WorldContext) => World;

  /** Runs the program until its signal aborts. Called for each replica. */
  readonly run: (context: ProgramContext<World>) => Promise<unknown>;

  /** Does what users of the program do. */
  readonly scenario: (context: {
    readonly world: World;
    readonly clock: Clock;
  }) => Promise<unknown>;

  /** The state of the world to compare: JSON, Maps and Sets. */
  readonly stateOf: (world: World) => State;

  /**
   * A value that is another one after each change of the state, where that is faster than to compare states: JSON, Maps
   * and Sets.
   *
   * @defaultValue the state
   */
  readonly revisionOf?: ((world: World) => unknown) | undefined;
}

/** The names of the settings of every explorer. */
const EXPLORE_SETTINGS: OptionNames<ExploreSettings<never>> = {
  invariant: true,
  expect: true,
  faults: true,
  only: true,
  worlds: true,
  pairs: true,
  replicas: true,
  quiet: true,
  seed: true,
};

const OPTIONS: OptionNames<ExploreOptions<never, never>> = {
  ...EXPLORE_SETTINGS,
  world: true,
  run: true,
  scenario: true,
  stateOf: true,
  revisionOf: true,
};

/** The options with their defaults. */
export type ResolvedExplore<World, State = unknown> = {
  readonly [Name in Exclude<keyof ExploreOptions<World, State>, "only" | "revisionOf">]-?: Exclude<
    ExploreOptions<World, State>[Name],
    undefined
  >;
} & { readonly only: string | undefined; readonly revisionOf: (world: World) => string };

/** @throws RangeError or TypeError that names the option */
export function resolveExplore<World, State>(
  options: ExploreOptions<World, State>,
): ResolvedExplore<World, State> {
  requireOptions("options", options, "explore", OPTIONS);
  const { world, run, scenario, stateOf, revisionOf } = options;
  for (const [name, value] of Object.entries({ world, run, scenario, stateOf }))
    requireFunction(`options.${name}`, value);
  requireHooks("options", { revisionOf });
  return {
    ...{ world, run, scenario, stateOf },
    revisionOf: (made) => textOf((revisionOf ?? stateOf)(made)),
    ...resolveJudge(options),
    ...resolvePlans(options),
  };
}

function resolveJudge<State>({ invariant, expect = "same" }: ExploreSettings<State>) {
  requireHooks("options", { invariant });
  if (expect !== "same" && typeof expect !== "function")
    throw new TypeError(
      `options.expect must be "same" or a function, got ${JSON.stringify(expect)}`,
    );
  return { invariant: invariant ?? (() => {}), expect };
}

function resolvePlans<State>(settings: ExploreSettings<State>) {
  const { faults = [], only, worlds = 1_000, pairs = 0, replicas = 1 } = settings;
  const { quiet = 600_000, seed = 1 } = settings;
  requireArray("options.faults", faults);
  for (const [index, type] of faults.entries()) requireText(`options.faults[${index}]`, type);
  if (only !== undefined) requireText("options.only", only);
  requireWhole("options.worlds", worlds, 1);
  requireWhole("options.pairs", pairs, 0);
  requireWhole("options.replicas", replicas, 1);
  requirePositive("options.quiet", quiet);
  requireWhole("options.seed", seed, 0);
  return { faults, only, worlds, pairs, replicas, quiet, seed };
}

/** The state as JSON, with Maps and Sets. */
export function textOf(state: unknown): string {
  const plain = (_: string, part: unknown): unknown => {
    if (part instanceof Map) return Object.fromEntries(part);
    return part instanceof Set ? [...part] : part;
  };
  return JSON.stringify(state, plain) ?? "undefined";
}
