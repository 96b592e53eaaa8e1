import { type Clock, realClock } from "@holdfast/clock";
import {
  type Kinds,
  methods,
  notNegative,
  parsed,
  read,
  requireArray,
  required,
  text,
} from "@holdfast/kit";
import { anyLogger } from "../kinds.ts";
import { defaultLogger, type Logger } from "../logger.ts";
import { STOP_TIMEOUT } from "../stop-budget.ts";
import type { SignalSource } from "./stop-signals.ts";

export const MANAGER_OPTIONS: Kinds<ManagerOptions> = {
  groups: parsed("groups"),
  stopTimeout: notNegative,
  signals: methods("on", "off", "exit"),
  clock: methods("monotonic", "afterFunc"),
  logger: anyLogger,
};

export const GROUP_OPTIONS: Kinds<GroupOptions> = {
  name: required(text),
  startTimeout: notNegative,
  stopTimeout: notNegative,
};

/** Options for a group: runnables that a {@link Manager} starts and stops together. */
export interface GroupOptions {
  /** Name of the group, not empty, for {@link AddRunnableOptions.group}. */
  readonly name: string;

  /**
   * How long the runnables may take to become ready, in milliseconds. At least 0, or `Infinity`.
   *
   * @defaultValue `120_000`
   */
  readonly startTimeout?: number | undefined;

  /**
   * How long the runnables may take to end, in milliseconds. At least 0, or `Infinity`.
   *
   * The group gets this time in full, however long the groups before it took, unless the run has less than
   * {@link ManagerOptions.stopTimeout} (`stopWithin` of `RunOptions`): then it gets a share. The sum of all groups
   * may not exceed `stopTimeout`.
   *
   * @defaultValue the longest `stopTimeout` of its runnables, plus 1 s. If none has one, the rest of the manager's
   * `stopTimeout`, minus the time of each group that stops later: its own, or 1 s. If the rest is too short for these times,
   * all of them shrink by the same factor
   */
  readonly stopTimeout?: number | undefined;
}

/** Options for a {@link Manager}. */
export interface ManagerOptions {
  /**
   * Groups in the order in which they start. They stop in the opposite order.
   *
   * @defaultValue one group, `"main"`
   */
  readonly groups?: readonly GroupOptions[] | undefined;

  /**
   * How long all groups together may take to stop, in milliseconds. At least 0, or `Infinity`. Keep it
   * below the time between SIGTERM and SIGKILL on your platform; Kubernetes grants 30 s.
   *
   * With its defaults a `Controller` takes up to 20 s, and a `LeaderElector` up to 5 s after its work. Two controllers in two
   * groups ask for more than the default: they learn by `stopWithin` that they have less, and shorten their grace.
   *
   * @defaultValue `28_000`
   */
  readonly stopTimeout?: number | undefined;

  /**
   * Source of SIGINT and SIGTERM, which stop the manager while it runs: `process`, or a fake in a test.
   * The first signal stops the groups in order, a second one at least 1 s later exits the process at once.
   *
   * @defaultValue none: signals do not stop the manager
   */
  readonly signals?: SignalSource | undefined;

  /**
   * Clock for the timeouts.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Receiver of log lines: starts, stops and errors.
   *
   * @defaultValue prints warnings and errors to the console; pass {@link silentLogger} for nothing
   */
  readonly logger?: Logger | undefined;
}

/** Options for adding a {@link Runnable} to a {@link Manager}. */
export interface AddRunnableOptions {
  /**
   * Name of the group.
   *
   * @defaultValue the last group
   */
  readonly group?: string | undefined;
}

/** A group with its defaults. */
export interface ResolvedGroup {
  readonly name: string;
  readonly startTimeout: number;
  /** Undefined for a share of the time for all groups. */
  readonly stopTimeout: number | undefined;
}

/** The options with their defaults. */
export interface ResolvedManagerOptions {
  readonly groups: readonly ResolvedGroup[];
  readonly stopTimeout: number;
  readonly signals: SignalSource | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveManager(options: ManagerOptions): ResolvedManagerOptions {
  const given = read("options", options, "Manager", MANAGER_OPTIONS);
  const { groups = [{ name: "main" }], stopTimeout = STOP_TIMEOUT, signals } = given;
  const { clock = realClock, logger = defaultLogger } = given;
  requireArray("options.groups", groups);
  if (groups.length === 0)
    throw new RangeError("options.groups must contain at least one group, got none");
  const resolved = groups.map(resolveGroup);
  const names = resolved.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (duplicate !== undefined)
    throw new RangeError(
      `options.groups must have unique names, got ${JSON.stringify(duplicate)} twice`,
    );
  requireStopTimeouts(stopTimeout, resolved);
  return { groups: resolved, stopTimeout, signals, clock, logger };
}

/** If the times of the groups exceed the total, the platform kills the process in the middle of a stop. */
function requireStopTimeouts(total: number, groups: readonly ResolvedGroup[]): void {
  const claimed = groups.reduce((sum, { stopTimeout = 0 }) => sum + stopTimeout, 0);
  if (claimed > total)
    throw new RangeError(
      `options.stopTimeout must be at least the stopTimeout of all groups together (${claimed}), got ${total}`,
    );
}

function resolveGroup(group: GroupOptions, index: number): ResolvedGroup {
  const path = `options.groups[${index}]`;
  const { name, startTimeout = 120_000, stopTimeout } = read(path, group, "Manager", GROUP_OPTIONS);
  return { name, startTimeout, stopTimeout };
}
