import type { ResourceLock } from "@holdfast/controller";
import { z } from "zod";
import { checked } from "../checked.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import {
  duration,
  type Resolved,
  type TaskOptions,
  taskLimits,
  taskTools,
} from "../task-options.ts";

/** How a `Compensation` behaves. Each duration is in milliseconds. */
export interface CompensationOptions extends TaskOptions {
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
}

const limits = z.object({
  ...taskLimits,
  fence: z.string().min(1).default("compensation"),
  period: duration.default(10_000),
  patience: duration.default(5_000),
  lease: duration.default(300_000),
  hold: z.number().min(0).default(5_000),
  batch: z.int().min(1).default(100),
});

/** The options with their defaults. */
export type ResolvedCompensationOptions = Resolved<CompensationOptions>;

/** @throws RangeError that names the options that are out of their range */
export function resolveCompensation(options: CompensationOptions): ResolvedCompensationOptions {
  const { store, lock } = options;
  return { ...checked(limits, "options", options), ...taskTools(options), store, lock };
}
