import { type Clock, realClock } from "@holdfast/clock";
import {
  func,
  type Kinds,
  kind,
  methods,
  parsed,
  read,
  requireDurations,
  required,
  text,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import type { LeaderElectorOptions } from "../election/leader-elector-options.ts";
import type { ResourceLock } from "../election/resource-lock.ts";
import type { SlotLeadership } from "../key-shards.ts";
import { anyLogger } from "../kinds.ts";
import { defaultLogger, type Logger } from "../logger.ts";
import { requireSlotCount } from "./slot-of.ts";

export const SHARDS_OPTIONS: Kinds<ShardsOptions> = {
  name: text,
  count: kind("slotCount", requireSlotCount),
  identity: required(text),
  lockOf: required(func),
  lead: func,
  leaseDuration: parsed("leaseDuration"),
  renewDeadline: parsed("renewDeadline"),
  retryPeriod: parsed("retryPeriod"),
  onError: func,
  clock: methods("now", "monotonic", "afterFunc", "newTimer"),
  random: func,
  logger: anyLogger,
};

/** Options for {@link Shards}. Durations are in milliseconds. */
export interface ShardsOptions
  extends Pick<LeaderElectorOptions, "leaseDuration" | "renewDeadline" | "clock" | "logger"> {
  /**
   * Name in a `Manager`: in its errors, log lines and status. Not empty.
   *
   * @defaultValue `"shards"`
   */
  readonly name?: string | undefined;

  /**
   * Number of slots, the same in all replicas. Whole, 1 to 1,024: a few times the largest number of replicas. To change
   * it, stop all replicas and start them with the new count: they wait for the last lease to run out.
   *
   * @defaultValue `16`
   */
  readonly count?: number | undefined;

  /**
   * Name of this process on the locks, not empty. Unique among all processes that may run at the same time, also after a
   * restart: for example a host name and a random part.
   */
  readonly identity: string;

  /**
   * Makes a lock. Called once for each name: `"count"`, `"slot-0"` to `"slot-15"`, `"wish-0"` to `"wish-15"`. Locks of
   * one name are one lock in all replicas: put the name into the file, the key, the row.
   */
  readonly lockOf: (name: string) => ResourceLock;

  /**
   * Work of one slot. It is called for every slot that this process takes, and several calls run at a time. When it
   * settles, so does the term: return once `signal` aborts, after the keys in flight are done.
   *
   * @defaultValue the work is that of the controllers that run with these shards: `controller.run(signal, { shards })`
   */
  readonly lead?: ((leadership: SlotLeadership) => unknown) | undefined;

  /**
   * Time from the start of a renewal of a slot to that of the next, and delay between two looks at all slots. Above 0, finite.
   *
   * @defaultValue `2_000`
   */
  readonly retryPeriod?: number | undefined;

  /**
   * Called with errors of `lead`, of the locks and of the logger. The process continues.
   *
   * @defaultValue none: an error of `lead` rejects {@link Shards.run} once the slots are released; one of a lock is
   * retried and logged as a warning that names the lock, once a minute with a `count`
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Source of the jitter between two looks.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** The options with their defaults. */
export interface ResolvedShardsOptions extends ShardsOptions {
  readonly name: string;
  readonly count: number;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws RangeError or TypeError that names the option */
export function resolveShards(options: ShardsOptions): ResolvedShardsOptions {
  const given = read("options", options, "Shards", SHARDS_OPTIONS);
  const { name = "shards", count = 16, identity, lockOf, lead, onError, random } = given;
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = given;
  const { clock = realClock, logger = defaultLogger } = given;
  const durations = { leaseDuration, renewDeadline, retryPeriod };
  requireDurations("options", durations);
  return { name, count, identity, lockOf, lead, ...durations, onError, random, clock, logger };
}
