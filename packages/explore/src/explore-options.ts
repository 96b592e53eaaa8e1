import type { Clock } from "@holdfast/clock";
import {
  type OptionNames,
  requireAbove,
  requireArray,
  requireFinite,
  requireFunction,
  requireHooks,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requirePositive,
  requireSignal,
  requireText,
  requireWhole,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { type Logger, silentLogger } from "./logger.ts";
import type { WatchedRequest } from "./reconciles.ts";
import { textOf } from "./state-text.ts";
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
   * @defaultValue none: every type of fault is tried
   */
  readonly without?: readonly string[] | undefined;

  /**
   * Runs one world alone, by the name that the report gives it, for example `"crash-after:4"`.
   *
   * @defaultValue all worlds
   */
  readonly only?: string | undefined;

  /**
   * The maximum number of worlds, without those of `pairs`. If there are more, some of each type of fault are drawn. Whole, at least 1.
   *
   * @defaultValue `1_000`
   */
  readonly worlds?: number | undefined;

  /**
   * Real time after which no other world begins, in milliseconds. Above 0. At least one world runs, and `notRun` of the
   * report has the others. The worlds are in an order that has a world of each type of fault first, then the next of
   * each, and those with two faults last.
   *
   * @defaultValue `Infinity`: no limit. A test needs a limit of its runner that is long enough
   */
  readonly time?: number | undefined;

  /**
   * Ends the exploration: it rejects at once with `signal.reason`.
   *
   * @defaultValue none
   */
  readonly signal?: AbortSignal | undefined;

  /**
   * Number of worlds with two faults, drawn: most second ones meet a step that is there because of the first, such as
   * another attempt. Whole, at least 0.
   *
   * @defaultValue `100`, or as many as `worlds` allows beside those with one fault
   */
  readonly pairs?: number | undefined;

  /**
   * Number of replicas that run side by side. From 2 on there are worlds in which a replica stands still for a minute
   * after a step, loses its lease, and goes on, and two replicas in the `watch`ed reconcile of one key at one instant are
   * a fault. Whole, at least 1.
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
   * Longest wait for a timer of the program after the last change, such as a requeue, in milliseconds of the world's
   * clock. A world ends earlier if nothing is left to do. At least 0.
   *
   * @defaultValue `7_200_000`
   */
  readonly longestTimer?: number | undefined;

  /**
   * Receiver of the log lines of all worlds. A report shows the warnings and errors of its world without it.
   *
   * @defaultValue none
   */
  readonly logger?: Logger | undefined;

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

  /** Makes a unique id in the form of a UUID, the same in every run: in place of `crypto.randomUUID`. */
  readonly uid: () => string;

  /** Aborts when the program should stop. */
  readonly signal: AbortSignal;

  /**
   * A system outside of the program, each call of which is a step that faults can meet. Its methods return promises
   * then, also those of its parts and of the objects and lists that they return, as in `bank.payments.create()`. A method
   * that returns an object with methods, and no promise, does so still, and is no step: `db.collection("x").insert(row)`.
   * Each item of an async iterable is a step.
   * Objects of the platform, such as a `Map` or a `Response`, are passed on as they are.
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

  /** A logger: its warnings and errors are in the report of the world. */
  readonly logger: Logger;

  /**
   * Adds a line to the report of the world.
   *
   * @param text - the line
   */
  readonly note: (text: string) => void;

  /**
   * Names the part of the start that begins, or undefined if the program is ready. A program that calls it has to become
   * ready; `ready()` of the scenario waits for that.
   *
   * @param part - for example `"setup"`
   */
  readonly starting: (part: string | undefined) => void;

  /**
   * A reconcile function whose failures count: a world in which one still runs or fails at the end is reported.
   *
   * @param name - name of the controller
   * @param reconcile - the function
   */
  readonly watch: <Request extends WatchedRequest, Result>(
    name: string,
    reconcile: (request: Request) => Result | PromiseLike<Result>,
  ) => (request: Request) => Promise<Result>;

  /** Forgets the reconciles of `watch` so far: the work of this replica has ended. A stop does so by itself. */
  readonly endTerm: () => void;
}

/** What users of a program have. */
export interface ScenarioSetting<World> {
  /** The world in which the program runs. */
  readonly world: World;

  /** The clock of the world. */
  readonly clock: Clock;

  /** Resolves when the program is ready, if it calls `starting`. One world is explored in which it does not wait. */
  readonly ready: () => Promise<void>;
}

/** Options for {@link explore}. */
export interface ExploreOptions<World, State = unknown> extends ExploreSettings<State> {
  /** Makes the systems outside of the program: fakes, on the clock of the world. Called once for each world. */
  readonly world: (context: WorldContext) => World;

  /** Runs the program until its signal aborts. Called for each replica. */
  readonly run: (context: ProgramContext<World>) => Promise<unknown>;

  /**
   * Runs the program of the last release, to prove an upgrade: worlds in which it gives way to `run` after each of its
   * steps and at rest, and worlds in which `run` gives way to it.
   *
   * @defaultValue none
   */
  readonly upgradeFrom?: ((context: ProgramContext<World>) => Promise<unknown>) | undefined;

  /**
   * Called when a world begins, and when another version takes over: changes what belongs to the version.
   *
   * @defaultValue none
   */
  readonly onVersion?: ((world: World, version: "old" | "new") => void) | undefined;

  /** Does what users of the program do. */
  readonly scenario: (context: ScenarioSetting<World>) => Promise<unknown>;

  /** The state of the world to compare: JSON, Maps and Sets. Times of the run are not compared. */
  readonly stateOf: (world: World) => State;

  /**
   * A value that is another one after each change of the state, where that is faster than to compare states: JSON, Maps
   * and Sets.
   *
   * @defaultValue the state
   */
  readonly revisionOf?: ((world: World) => unknown) | undefined;

  /**
   * Numbers by label, of events that must not happen more often than without a fault, such as deletions. Compared if
   * `expect` is `"same"`.
   *
   * @defaultValue none
   */
  readonly countsOf?: ((world: World) => ReadonlyMap<string, number>) | undefined;

  /**
   * Labels of timers that come back for ever and change nothing, such as that of a watch: no world waits for them.
   *
   * @defaultValue none
   */
  readonly upkeep?: readonly string[] | undefined;
}

/** The names of the settings of every explorer. */
const EXPLORE_SETTINGS: OptionNames<ExploreSettings<never>> = {
  invariant: true,
  expect: true,
  without: true,
  only: true,
  worlds: true,
  time: true,
  signal: true,
  pairs: true,
  replicas: true,
  quiet: true,
  longestTimer: true,
  logger: true,
  seed: true,
};

const OPTIONS: OptionNames<ExploreOptions<never, never>> = {
  ...EXPLORE_SETTINGS,
  world: true,
  run: true,
  upgradeFrom: true,
  onVersion: true,
  scenario: true,
  stateOf: true,
  revisionOf: true,
  countsOf: true,
  upkeep: true,
};

/** The options with their defaults. */
export type ResolvedExplore<World, State = unknown> = {
  readonly [Name in Exclude<
    keyof ExploreOptions<World, State>,
    "only" | "signal" | "pairs" | "revisionOf" | "upgradeFrom"
  >]-?: Exclude<ExploreOptions<World, State>[Name], undefined>;
} & {
  readonly only: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly pairs: number | undefined;
  readonly upgradeFrom: ExploreOptions<World, State>["upgradeFrom"];
  readonly revisionOf: (world: World) => string;
  /** The methods of linked systems, as the run without a fault has found them. */
  readonly linked: Map<string, "step" | "maker">;
};

/** @throws RangeError or TypeError that names the option */
export function resolveExplore<World, State>(
  options: ExploreOptions<World, State>,
): ResolvedExplore<World, State> {
  requireOptions("options", options, "explore", OPTIONS);
  const { world, run, scenario, stateOf, revisionOf, countsOf, upkeep = [] } = options;
  const { upgradeFrom, onVersion } = options;
  for (const [name, value] of Object.entries({ world, run, scenario, stateOf }))
    requireFunction(`options.${name}`, value);
  requireHooks("options", { revisionOf, countsOf, upgradeFrom, onVersion });
  requireTexts("options.upkeep", upkeep);
  return {
    ...{ world, run, scenario, stateOf, upkeep, upgradeFrom },
    onVersion: onVersion ?? (() => {}),
    countsOf: countsOf ?? (() => new Map()),
    linked: new Map(),
    revisionOf: (made) => textOf((revisionOf ?? stateOf)(made)),
    ...resolveJudge(options),
    ...resolvePlans(options),
    ...resolveLimits(options),
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
  const { without = [], only, replicas = 1 } = settings;
  const { quiet = 600_000, longestTimer = 7_200_000, seed = 1, logger = silentLogger } = settings;
  requireTexts("options.without", without);
  if (only !== undefined) requireText("options.only", only);
  requireWhole("options.replicas", replicas, 1);
  requirePositive("options.quiet", quiet);
  requireNotNegative("options.longestTimer", longestTimer);
  requireFinite("options.longestTimer", longestTimer);
  requireMethods("options.logger", logger, ["debug", "info", "warn", "error"]);
  requireWhole("options.seed", seed, 0);
  return { without, only, replicas, quiet, longestTimer, logger, seed };
}

function resolveLimits<State>(settings: ExploreSettings<State>) {
  const { worlds = 1_000, pairs, time = Number.POSITIVE_INFINITY, signal } = settings;
  requireWhole("options.worlds", worlds, 1);
  if (pairs !== undefined) requireWhole("options.pairs", pairs, 0);
  requireAbove("options.time", time, 0);
  if (signal !== undefined) requireSignal("options.signal", signal);
  return { worlds, pairs, time, signal };
}

function requireTexts(label: string, texts: readonly string[]): void {
  requireArray(label, texts);
  for (const [index, text] of texts.entries()) requireText(`${label}[${index}]`, text);
}
