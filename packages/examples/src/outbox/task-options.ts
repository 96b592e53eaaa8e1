import { type Clock, realClock } from "@holdfast/clock";
import { type Logger, silentLogger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { z } from "zod";
import type { RelayEvent } from "./relay/relay-event.ts";

/** What a relay and the compensation task have in common. Each duration is in milliseconds. */
export interface TaskOptions {
  /** A name that no other one has that may run at the same time: host and process, for example. */
  readonly name: string;

  /**
   * How long one request to the store may take. Above 0.
   *
   * @defaultValue `10_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * The largest share of a wait that may be added to it at random, so that what failed together does
   * not come back together. At least 0.
   *
   * @defaultValue `0.1`
   */
  readonly jitter?: number | undefined;

  /** Is told what happens. */
  readonly onEvent?: ((event: RelayEvent) => void) | undefined;

  /**
   * Where it says what it does.
   *
   * @defaultValue `silentLogger`
   */
  readonly logger?: Logger | undefined;

  /**
   * Says when messages are due and claims end, and measures everything.
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

/** A length of time that is not nothing. */
export const duration: z.ZodNumber = z.number().positive();

/** The ranges and defaults of numbers and names. */
export const taskLimits: {
  readonly name: z.ZodString;
  readonly storeTimeout: z.ZodDefault<z.ZodNumber>;
  readonly jitter: z.ZodDefault<z.ZodNumber>;
} = {
  name: z.string().min(1),
  storeTimeout: duration.default(10_000),
  jitter: z.number().min(0).default(0.1),
};

/** What else it works with, with its defaults. */
export function taskTools(
  options: TaskOptions,
): Pick<Resolved<TaskOptions>, "clock" | "random" | "logger" | "onEvent"> {
  const { clock = realClock, random, logger = silentLogger, onEvent = () => {} } = options;
  return { clock, random, logger, onEvent };
}
