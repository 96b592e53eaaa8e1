import { z } from "zod";
import { checked } from "../checked.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import {
  duration,
  type Resolved,
  type TaskOptions,
  taskLimits,
  taskTools,
} from "../task-options.ts";

/** How a `Relay` behaves. Each duration is in milliseconds. */
export interface RelayOptions extends TaskOptions {
  /** Where the messages are. */
  readonly store: Omit<OutboxStore<never>, "save">;

  /** What sends them. It is not disposed of. */
  readonly publisher: Publisher;

  /**
   * How many messages are sent at once. Whole, at least 1.
   *
   * @defaultValue `10`
   */
  readonly workers?: number | undefined;

  /**
   * How long an attempt may take. Above 0.
   *
   * @defaultValue `15_000`
   */
  readonly publishTimeout?: number | undefined;

  /**
   * How long a message is nobody else's. Above `publishTimeout` plus `clockSkew`; what is over that is
   * how long a message may wait for a worker, and how long the outcome can be written late. If a
   * relay dies, its messages are left alone for so long.
   *
   * @defaultValue `60_000`
   */
  readonly claimLength?: number | undefined;

  /**
   * How much the wall clocks of two hosts may differ. At least 0. An attempt begins only if the claim
   * lasts for that much longer than it may take, so that nobody takes it for dead.
   *
   * @defaultValue `5_000`
   */
  readonly clockSkew?: number | undefined;

  /**
   * How often the relay looks for messages that others have made due. Above 0. It does not wait for
   * it where it knows when a message is due.
   *
   * @defaultValue `5_000`
   */
  readonly pollPeriod?: number | undefined;

  /**
   * How long attempts may go on after the abort. At least 0.
   *
   * @defaultValue `20_000`
   */
  readonly grace?: number | undefined;
}

const limits = z
  .object({
    ...taskLimits,
    workers: z.int().min(1).default(10),
    publishTimeout: duration.default(15_000),
    claimLength: duration.default(60_000),
    clockSkew: z.number().min(0).default(5_000),
    pollPeriod: duration.default(5_000),
    grace: z.number().min(0).default(20_000),
  })
  .refine(
    ({ claimLength, publishTimeout, clockSkew }) => claimLength > publishTimeout + clockSkew,
    {
      path: ["claimLength"],
      message: "must be above publishTimeout plus clockSkew",
    },
  );

/** The options with their defaults. */
export type ResolvedRelayOptions = Resolved<RelayOptions>;

/** @throws RangeError that names the options that are out of their range */
export function resolveRelay(options: RelayOptions): ResolvedRelayOptions {
  const { store, publisher } = options;
  return { ...checked(limits, "options", options), ...taskTools(options), store, publisher };
}
