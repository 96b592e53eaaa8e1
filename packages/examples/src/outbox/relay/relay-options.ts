import { type Clock, realClock } from "@holdfast/clock";
import { type Logger, silentLogger } from "@holdfast/controller";
import type { Random } from "@holdfast/wait";
import { z } from "zod";
import { checked } from "../checked.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { OutboxStore } from "../store/outbox-store.ts";
import type { RelayEvent } from "./relay-event.ts";

/** How a `Relay` behaves. Each duration is in milliseconds. */
export interface RelayOptions {
  /** A name that no other relay has that may run at the same time: host and process, for example. */
  readonly name: string;

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
   * How long one request to the store may take. Above 0.
   *
   * @defaultValue `10_000`
   */
  readonly storeTimeout?: number | undefined;

  /**
   * How long attempts may go on after the abort. At least 0.
   *
   * @defaultValue `20_000`
   */
  readonly grace?: number | undefined;

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
   * Says when claims end and messages are due, and measures everything.
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

const limits = z
  .object({
    name: z.string().min(1),
    workers: z.int().min(1).default(10),
    publishTimeout: duration.default(15_000),
    claimLength: duration.default(60_000),
    clockSkew: z.number().min(0).default(5_000),
    pollPeriod: duration.default(5_000),
    storeTimeout: duration.default(10_000),
    grace: z.number().min(0).default(20_000),
    jitter: z.number().min(0).default(0.1),
  })
  .refine(
    ({ claimLength, publishTimeout, clockSkew }) => claimLength > publishTimeout + clockSkew,
    {
      path: ["claimLength"],
      message: "must be above publishTimeout plus clockSkew",
    },
  );

/** The options with their defaults. */
export type ResolvedRelayOptions = {
  readonly [Name in Exclude<keyof RelayOptions, "random">]-?: NonNullable<RelayOptions[Name]>;
} & Pick<RelayOptions, "random">;

/** @throws RangeError that names the options that are out of their range */
export function resolveRelay(options: RelayOptions): ResolvedRelayOptions {
  const { store, publisher, clock = realClock, random, logger = silentLogger } = options;
  const { onEvent = () => {} } = options;
  return {
    ...checked(limits, "options", options),
    ...{ store, publisher, clock, random, logger, onEvent },
  };
}
