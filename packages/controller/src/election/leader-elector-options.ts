import { type Clock, realClock } from "@holdfast/clock";
import {
  requireAbove,
  requireBoolean,
  requireFinite,
  requireFunction,
  requireMethods,
  requireOptions,
  requireText,
} from "@holdfast/clock/internal";
import type { Random } from "@holdfast/wait";
import type { Leadership } from "./leadership.ts";
import type { ResourceLock } from "./resource-lock.ts";

/** How a {@link LeaderElector} behaves. Each duration is in milliseconds. */
export interface LeaderElectorOptions {
  /** Where the electors meet. */
  readonly lock: ResourceLock;

  /**
   * A name that no other elector has that may run at the same time. Who is started again under its
   * old name need not wait for its old lease.
   */
  readonly identity: string;

  /**
   * The work of a leader. When it ends by itself, so does the term.
   *
   * It is waited for before the lease is given back, so do not wait for
   * {@link LeaderElector.resign} in it; just return. Once its signal has aborted, it may also reject
   * with the reason of that, or with an `AbortError`.
   */
  readonly lead: (leadership: Leadership) => unknown;

  /**
   * How long the others leave a lease alone that is not renewed. Finite, above `renewDeadline`. The
   * work of a leader that lost its lock has the difference of both to stop.
   *
   * @defaultValue `15_000`
   */
  readonly leaseDuration?: number | undefined;

  /**
   * How long a leader leads without a renewal. Above 1.2 times `retryPeriod`. One request to the lock
   * may take half of it.
   *
   * @defaultValue `10_000`
   */
  readonly renewDeadline?: number | undefined;

  /**
   * How long to wait between requests: so long as leader, and 1 to 2.2 times as long otherwise.
   * Above 0.
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
   * Is told who leads, each time that changes; undefined if nobody does. It may be async, and is not
   * waited for.
   *
   * @defaultValue none
   */
  readonly onNewLeader?: ((leader: string | undefined) => unknown) | undefined;

  /**
   * Gets what `lead` and `onNewLeader` throw or reject with, and the errors of the lock. The elector
   * goes on.
   *
   * @defaultValue none: an error of `lead` or `onNewLeader` rejects {@link LeaderElector.run} once the
   * lease is given back; one of the lock stands in {@link LeaderElector.status} and is retried
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;

  /**
   * Measures everything.
   *
   * @defaultValue `realClock`
   */
  readonly clock?: Clock | undefined;

  /**
   * Draws the jitter of campaigns.
   *
   * @defaultValue `Math.random`
   */
  readonly random?: Random | undefined;
}

/** What {@link LeaderElector} goes by: every option but those that may be missing on purpose. */
export interface ResolvedLeaderElectorOptions extends LeaderElectorOptions {
  readonly leaseDuration: number;
  readonly renewDeadline: number;
  readonly retryPeriod: number;
  readonly once: boolean;
  readonly clock: Clock;
}

/** How much longer than the retry period a campaign may wait, as a share of it. */
export const CAMPAIGN_JITTER = 1.2;

/** Checks the options and puts the defaults in. */
export function resolveLeaderElector(options: LeaderElectorOptions): ResolvedLeaderElectorOptions {
  requireOptions("options", options);
  const { leaseDuration = 15_000, renewDeadline = 10_000, retryPeriod = 2_000 } = options;
  const { once = false, clock = realClock } = options;
  requireMethods("options.lock", options.lock, ["get", "create", "update"]);
  requireText("options.identity", options.identity);
  requireFunction("options.lead", options.lead);
  requireDurations(leaseDuration, renewDeadline, retryPeriod);
  requireBoolean("options.once", once);
  requireMethods("options.clock", clock, ["now", "monotonic", "afterFunc", "newTimer"]);
  for (const name of ["onNewLeader", "onError", "random"] as const)
    if (options[name] !== undefined) requireFunction(`options.${name}`, options[name]);
  return { ...options, leaseDuration, renewDeadline, retryPeriod, once, clock };
}

/** Go's order: each must leave room for the next. */
function requireDurations(leaseDuration: number, renewDeadline: number, retryPeriod: number): void {
  requireFinite("options.leaseDuration", leaseDuration);
  requireFinite("options.renewDeadline", renewDeadline);
  requireAbove("options.retryPeriod", requireFinite("options.retryPeriod", retryPeriod), 0);
  const least = retryPeriod * CAMPAIGN_JITTER;
  if (!(renewDeadline > least))
    throw new RangeError(
      `options.renewDeadline must be above ${CAMPAIGN_JITTER} times options.retryPeriod (${least}), got ${renewDeadline}`,
    );
  if (!(leaseDuration > renewDeadline))
    throw new RangeError(
      `options.leaseDuration must be above options.renewDeadline (${renewDeadline}), got ${leaseDuration}`,
    );
}
