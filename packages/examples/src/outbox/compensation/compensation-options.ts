import { type Clock, realClock } from "@holdfast/clock";
import { type Logger, type ResourceLock, silentLogger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { z } from "zod";
import { checked } from "../checked.ts";
import type { RelayEvent } from "../relay/relay-event.ts";
import type { OutboxStore } from "../store/outbox-store.ts";

/** How a `Compensation` behaves. Each duration is in milliseconds. */
export interface CompensationOptions {
  /** A name that no other one has that may run at the same time: host and process, for example. */
  readonly name: string;

  /** Where the messages are. */
  readonly store: Pick<OutboxStore<never>, "orphans" | "releaseOrphan">;

  /** Where the processes meet. */
  readonly lock: ResourceLock;

  /**
   * What the fence of its writes is called: the same in all processes, for each lock another.
   *
   * @defaultValue `"compensation"`
   */
  readonly fence?: string | undefined;

  /**
   * From the end of one round to the next. Above 0.
   *
   * @defaultValue `10_000`
   */
  readonly period?: number | undefined;

  /**
   * How long a round waits for the lock. Above 0.
   *
   * @defaultValue `5_000`
   */
  readonly patience?: number | undefined;

  /**
   * How long others leave the lock alone if its holder dies. Above 0. It is renewed while a round lasts.
   *
   * @defaultValue `300_000`
   */
  readonly lease?: number | undefined;

  /**
   * How long a round keeps the lock at least, so that the next process does not do at once what was
   * just done. At least 0.
   *
   * @defaultValue `5_000`
   */
  readonly hold?: number | undefined;

  /**
   * How many messages a round takes at most. Whole, at least 1.
   *
   * @defaultValue `100`
   */
  readonly batch?: number | undefined;

  /**
   * How long one request to the store may take. Above 0.
   *
   * @defaultValue `10_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * See `RelayOptions.jitter`.
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
   * Says when claims have ended, and measures everything.
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

const duration = z.number().positive();
const limits = z.object({
  name: z.string().min(1),
  fence: z.string().min(1).default("compensation"),
  period: duration.default(10_000),
  patience: duration.default(5_000),
  lease: duration.default(300_000),
  hold: z.number().min(0).default(5_000),
  batch: z.int().min(1).default(100),
  storeTimeout: duration.default(10_000),
  jitter: z.number().min(0).default(0.1),
});

/** The options with their defaults. */
export type ResolvedCompensationOptions = {
  readonly [Name in Exclude<keyof CompensationOptions, "random">]-?: NonNullable<
    CompensationOptions[Name]
  >;
} & Pick<CompensationOptions, "random">;

/** @throws RangeError that names the options that are out of their range */
export function resolveCompensation(options: CompensationOptions): ResolvedCompensationOptions {
  const { store, lock, clock = realClock, random, logger = silentLogger } = options;
  const { onEvent = () => {} } = options;
  return {
    ...checked(limits, "options", options),
    ...{ store, lock, clock, random, logger, onEvent },
  };
}
