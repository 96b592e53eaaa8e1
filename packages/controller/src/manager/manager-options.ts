import { type Clock, realClock } from "@holdfast/clock";
import {
  requireArray,
  requireMethods,
  requireNotNegative,
  requireOptions,
  requireText,
} from "@holdfast/clock/internal";
import { type Logger, silentLogger } from "../logger.ts";
import type { SignalSource } from "./stop-signals.ts";

/** What a {@link Manager} starts and stops together. */
export interface GroupOptions {
  /** What the group is called when something is added to it. */
  readonly name: string;

  /**
   * How long its runnables may take until they are ready, in milliseconds. At least 0, or `Infinity`.
   *
   * @defaultValue `120_000`
   */
  readonly startTimeout?: number | undefined;

  /**
   * How long its runnables may take to end, in milliseconds. At least 0, or `Infinity`.
   *
   * Each group has its own time: a slow one takes nothing from the others. Together they should stay
   * below what the platform grants before it kills the process; Kubernetes grants 30 s. A `Controller`
   * may take its `grace` and its `abortGrace`: let both together be below this.
   *
   * @defaultValue `30_000`
   */
  readonly stopTimeout?: number | undefined;
}

/** How a {@link Manager} behaves. */
export interface ManagerOptions {
  /**
   * What starts after what, first to last; stopping goes from last to first.
   *
   * @defaultValue one group, `"main"`
   */
  readonly groups?: readonly GroupOptions[] | undefined;

  /**
   * Whose SIGINT and SIGTERM stop the manager, while it runs: `process`, or what a test puts in its
   * place. The first stops in order, the second ends the process at once.
   *
   * @defaultValue none: the program has its own way to stop
   */
  readonly signals?: SignalSource | undefined;

  /**
   * Measures the timeouts.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Is told what starts, what stops and what goes wrong.
   *
   * @defaultValue {@link silentLogger}
   */
  readonly logger?: Logger | undefined;
}

/** Where a runnable goes. */
export interface AddRunnableOptions {
  /**
   * The name of its group.
   *
   * @defaultValue the last group
   */
  readonly group?: string | undefined;
}

/** A group with its defaults. */
export interface ResolvedGroup {
  readonly name: string;
  readonly startTimeout: number;
  readonly stopTimeout: number;
}

/** The options with their defaults. */
export interface ResolvedManagerOptions {
  readonly groups: readonly ResolvedGroup[];
  readonly signals: SignalSource | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveManager(options: ManagerOptions): ResolvedManagerOptions {
  requireOptions("options", options);
  const {
    groups = [{ name: "main" }],
    signals,
    clock = realClock,
    logger = silentLogger,
  } = options;
  requireArray("options.groups", groups);
  if (groups.length === 0)
    throw new RangeError("options.groups must have at least one group, got none");
  const resolved = groups.map(resolveGroup);
  const names = resolved.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw new RangeError(
      `options.groups must have different names, got ${JSON.stringify(twice)} twice`,
    );
  if (signals !== undefined) requireMethods("options.signals", signals, ["on", "off", "exit"]);
  requireMethods("options.clock", clock, ["afterFunc"]);
  requireMethods("options.logger", logger, Object.keys(silentLogger));
  return { groups: resolved, signals, clock, logger };
}

function resolveGroup(group: GroupOptions, index: number): ResolvedGroup {
  const path = `options.groups[${index}]`;
  requireOptions(path, group);
  const { name, startTimeout = 120_000, stopTimeout = 30_000 } = group;
  requireText(`${path}.name`, name);
  requireNotNegative(`${path}.startTimeout`, startTimeout);
  requireNotNegative(`${path}.stopTimeout`, stopTimeout);
  return { name, startTimeout, stopTimeout };
}
