import type { Clock } from "@holdfast/clock";
import {
  abortSignal,
  above,
  func,
  type Kind,
  type Kinds,
  kind,
  methods,
  positive,
  read,
  requireArray,
  required,
  requireFinite,
  requireNotNegative,
  requireText,
  text,
  whole,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { type Logger, silentLogger } from "./logger.ts";
import type { Held, WatchedRequest } from "./reconciles.ts";
import { shownValue, textOf } from "./state-text.ts";
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
   * another attempt. Up to half of them lose the response of a write and deliver its event late, or let a call fail twice.
   * Whole, at least 0.
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
   * A reconcile function whose failures count: a world in which one still runs or fails at the end is reported. In some
   * runs it begins later, as behind a busy worker: it returns `{ requeueAfter }` then, in milliseconds, for a controller.
   *
   * @param name - name of the controller
   * @param reconcile - the function
   */
  readonly watch: <Request extends WatchedRequest, Result>(
    name: string,
    reconcile: (request: Request) => Result | PromiseLike<Result>,
  ) => (request: Request) => Promise<Result | Held>;

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

/** The values that an option may have. */
export interface SettingKind {
  /** Name of the kind, for example `"whole"`. */
  readonly name: string;

  /** Its bounds, for example the least number. */
  readonly bounds: readonly unknown[];

  /** Whether the option may not be missing. */
  readonly isRequired: boolean;

  /**
   * Throws a RangeError or a TypeError for a bad value.
   *
   * @param path - the option in the error, for example `"options.worlds"`
   * @param value - the value
   */
  check(path: string, value: unknown): unknown;
}

const texts: Kind = kind("texts", requireTexts);

/**
 * The values that each option of {@link ExploreSettings} may have, for an explorer that is built on {@link explore} and
 * has options of its own.
 *
 * @example
 * ```ts
 * import { EXPLORE_SETTINGS } from "@holdfast/explore";
 *
 * EXPLORE_SETTINGS.worlds.check("options.worlds", 10);
 * console.log(Object.hasOwn(EXPLORE_SETTINGS, "seed")); // => true
 * ```
 */
export const EXPLORE_SETTINGS: {
  readonly [Name in keyof ExploreSettings<unknown>]-?: SettingKind;
} = {
  invariant: func,
  expect: kind("expectation", requireExpectation),
  without: texts,
  only: text,
  worlds: whole(1),
  time: above(0),
  signal: abortSignal,
  pairs: whole(0),
  replicas: whole(1),
  quiet: positive,
  longestTimer: kind("finiteTime", requireFiniteTime),
  logger: methods("debug", "info", "warn", "error"),
  seed: whole(0),
};

export const EXPLORE_OPTIONS: Kinds<ExploreOptions<never, never>> = {
  ...EXPLORE_SETTINGS,
  world: required(func),
  run: required(func),
  upgradeFrom: func,
  onVersion: func,
  scenario: required(func),
  stateOf: required(func),
  revisionOf: func,
  countsOf: func,
  upkeep: texts,
};

/** The options with their defaults. */
export type ResolvedExplore<World, State = unknown> = {
  readonly [Name in Exclude<
    keyof ExploreOptions<World, State>,
    "only" | "signal" | "pairs" | "revisionOf" | "upgradeFrom"
  >]-?: Exclude<ExploreOptions<World, State>[Name], undefined>;
} & Pick<ExploreOptions<World, State>, "only" | "signal" | "pairs" | "upgradeFrom"> & {
    readonly revisionOf: (world: World) => string;
    /** The methods of linked systems, as the run without a fault has found them. */
    readonly linked: Map<string, "step" | "maker">;
  };

/** @throws RangeError or TypeError that names the option */
export function resolveExplore<World, State>(
  options: ExploreOptions<World, State>,
): ResolvedExplore<World, State> {
  const given = read("options", options, "explore", EXPLORE_OPTIONS);
  const { stateOf, revisionOf = stateOf, countsOf = () => new Map(), upkeep = [] } = given;
  const { invariant = ignore, onVersion = ignore, expect = "same", without = [] } = given;
  const { logger = silentLogger } = given;
  return {
    ...given,
    ...{ countsOf, upkeep, invariant, onVersion, expect, without, logger },
    ...resolveNumbers(given),
    linked: new Map(),
    revisionOf: (world) => textOf(revisionOf(world)),
  };
}

function resolveNumbers(given: ExploreSettings<never>) {
  const { replicas = 1, worlds = 1_000, time = Number.POSITIVE_INFINITY, seed = 1 } = given;
  const { quiet = 600_000, longestTimer = 7_200_000 } = given;
  return { replicas, worlds, time, seed, quiet, longestTimer };
}

function ignore(): void {}

function requireTexts(path: string, list: readonly string[]): void {
  requireArray(path, list);
  for (const [index, one] of list.entries()) requireText(`${path}[${index}]`, one);
}

function requireExpectation(path: string, expect: unknown): void {
  if (expect !== "same" && typeof expect !== "function")
    throw new TypeError(`${path} must be "same" or a function, got ${shownValue(expect, 80)}`);
}

function requireFiniteTime(path: string, value: number): void {
  requireFinite(path, requireNotNegative(path, value));
}
