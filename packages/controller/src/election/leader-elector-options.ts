import { type Clock, realClock } from "@holdfast/clock";
import {
  flag,
  func,
  type Kinds,
  methods,
  parsed,
  read,
  requireDurations,
  required,
  text,
} from "@holdfast/kit";
import type { Random } from "@holdfast/wait";
import { anyLogger } from "../kinds.ts";
import type { Leadership } from "../leadership.ts";
import { defaultLogger, type Logger } from "../logger.ts";
import type { ResourceLock } from "./resource-lock.ts";

export const LEADER_ELECTOR_OPTIONS: Kinds<LeaderElectorOptions> = {
  name: text,
  lock: required(methods("get", "create", "update")),
  identity: required(text),
  lead: required(func),
  leaseDuration: parsed("leaseDuration"),
  renewDeadline: parsed("renewDeadline"),
  retryPeriod: parsed("retryPeriod"),
  once: flag,
  onNewLeader: func,
  onError: func,
  clock: methods("now", "monotonic", "afterFunc", "newTimer"),
  random: func,
  logger: anyLogger,
};

/** Options for a {@link LeaderElector}. Durations are in milliseconds. */
export interface LeaderElectorOptions {
  /**
   * Name of the elector in a `Manager`: in its errors, log lines and status. Not empty.
   *
   * @defaultValue `"leader-elector"`
   */
  readonly name?: string | undefined;

  /** Lock on which the electors compete. */
  readonly lock: ResourceLock;

  /**
   * Name of this process on the lock, not empty. Unique among all processes that may run at the same time. A
   * process that restarts with the same identity reacquires its own lease immediately.
   */
  readonly identity: string;

  /**
   * Work of a leader. When it settles, so does the term.
   *
   * The elector awaits it before it releases the lease. So do not await {@link LeaderElector.resign}
   * inside; return instead. After its signal has aborted it may also reject with the reason or with an
   * `AbortError`.
   */
  readonly lead: (leadership: Leadership) => unknown;

  /**
   * How long other electors respect a lease that is not renewed. Finite, above `renewDeadline`. Work
   * that loses the lock has the difference between the two to end.
   *
   * @defaultValue `15_000`
   */
  readonly leaseDuration?: number | undefined;

  /**
   * How long a leader continues without a renewal. Above 1.2 times `retryPeriod`. One request to the
   * lock may take half of it.
   *
   * @defaultValue `10_000`
   */
  readonly renewDeadline?: number | undefined;

  /**
   * Time between two requests: from the start of one to that of the next for a leader, from its end and 1 to 2.2 times as
   * long for candidates. Above 0, finite.
   *
   * @defaultValue `2_000`
   */
  readonly retryPeriod?: number | undefined;

  /**
   * Whether to run for one term only.
   *
   * @defaultValue `false`, campaigns again after each term
   */
  readonly once?: boolean | undefined;

  /**
   * Called with the identity of the leader each time that changes; undefined if the lease is free. May
   * be async; it is not awaited.
   *
   * @defaultValue none
   */
  readonly onNewLeader?: ((leader: string | undefined) => unknown) | undefined;

  /**
   * Called with errors of `lead`, of `onNewLeader`, of the lock and of the logger. The elector continues.
   *
   * @defaultValue none: an error of `lead` or a hook rejects {@link LeaderElector.run} once the lease is
   * released; one of the lock is retried, shown in {@link LeaderElector.status} and logged as a
   * warning, once a minute with a `count`
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Clock for all durations.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Source of the jitter of campaigns.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;

  /**
   * Receiver of log lines: terms that begin and end at info level, a lost lease as a warning.
   *
   * @defaultValue prints warnings and errors to the console; pass {@link silentLogger} for nothing
   */
  readonly logger?: Logger | undefined;
}

/** The options with their defaults. */
export interface ResolvedLeaderElectorOptions extends LeaderElectorOptions {
  readonly name: string;
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  readonly once: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** @throws RangeError or TypeError if an option is out of its range */
export function resolveLeaderElector(options: LeaderElectorOptions): ResolvedLeaderElectorOptions {
  const given = read("options", options, "LeaderElector", LEADER_ELECTOR_OPTIONS);
  const { name = "leader-elector", lock, identity, lead, onNewLeader, onError, random } = given;
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = given;
  const { once = false, clock = realClock, logger = defaultLogger } = given;
  const durations = { leaseDuration, renewDeadline, retryPeriod };
  requireDurations("options", durations);
  const hooks = { onNewLeader, onError, random };
  return { name, lock, identity, lead, ...durations, once, ...hooks, clock, logger };
}
