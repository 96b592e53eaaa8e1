import { type Clock, realClock } from "@holdfast/clock";
import {
  type OptionNames,
  requireClock,
  requireHooks,
  requireMethods,
  requireNotNegative,
  requirePositive,
} from "@holdfast/clock/internal";
import { defaultLogger, type Logger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { requireStoredName } from "../message/stored-text.ts";
import type { OutboxEvent } from "./outbox-event.ts";

/** Options that all tasks on an outbox share. Durations are in milliseconds. */
export interface TaskOptions {
  /**
   * A name that no other task has at the same time: host and process, for example. Not empty, at most
   * 255 bytes of UTF-8.
   */
  readonly name: string;

  /**
   * How long one request to the store may take. Above 0, finite.
   *
   * @defaultValue `10_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * The largest share of a wait that is added to it at random, so that messages that failed together do
   * not come back together. At least 0.
   *
   * @defaultValue `0.1`
   */
  readonly jitter?: number | undefined;

  /**
   * Called with every event. An error it throws is logged.
   *
   * @defaultValue none
   */
  readonly onEvent?: ((event: OutboxEvent) => void) | undefined;

  /**
   * Receiver of log lines.
   *
   * @defaultValue warnings and errors on the console
   */
  readonly logger?: Logger | undefined;

  /**
   * Clock for all delays, due messages and the end of claims.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Draws the jitter.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** Options with their defaults. */
export type Resolved<Options extends TaskOptions> = {
  readonly [Name in Exclude<keyof Options, "random">]-?: NonNullable<Options[Name]>;
} & Pick<Options, "random">;

/** The options of every task. */
export const TASK_OPTIONS: OptionNames<TaskOptions> = {
  name: true,
  storeTimeout: true,
  jitter: true,
  onEvent: true,
  logger: true,
  clock: true,
  random: true,
};

/** @throws RangeError or TypeError that names the option */
export function resolveTask(options: TaskOptions): Resolved<TaskOptions> {
  const { name, storeTimeout = 10_000, jitter = 0.1, onEvent = () => {} } = options;
  const { logger = defaultLogger, clock = realClock, random } = options;
  requireStoredName("options.name", name);
  requirePositive("options.storeTimeout", storeTimeout);
  requireNotNegative("options.jitter", jitter);
  requireHooks("options", { onEvent, random });
  requireMethods("options.logger", logger, Object.keys(defaultLogger));
  requireClock("options.clock", clock);
  return { name, storeTimeout, jitter, onEvent, logger, clock, random };
}
