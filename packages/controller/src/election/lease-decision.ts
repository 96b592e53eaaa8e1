import type { LeaseRecord } from "./lease-record.ts";

/** A record, and when this process first saw it, on its own monotonic clock. */
export interface Observation {
  readonly record: LeaseRecord;
  readonly seenAt: number;
}

/** What an elector may do next. */
export type LeaseDecision = "wait" | "acquire" | "renew" | "stepDown";

/** All that the decision depends on. */
export interface LeaseFacts {
  readonly identity: string;
  /** The token of the own term; undefined for who does not lead. */
  readonly token: number | undefined;
  /** The latest record, even if it is gone now; undefined if there never was one. */
  readonly observed: Observation | undefined;
  /** The own monotonic clock. */
  readonly now: number;
}

/**
 * What the record says an elector may do. The only times it looks at are of its own clock: how long
 * ago it saw the record change, against the duration that the record states.
 *
 * A record with the own identity and another token is of another life, or of another process that
 * goes by the same name. A leader steps down before it; who does not lead takes it over.
 */
export function decideLease({ identity, token, observed, now }: LeaseFacts): LeaseDecision {
  if (observed === undefined) return token === undefined ? "acquire" : "renew";
  const { holder, leaseDuration, transitions } = observed.record;
  if (token !== undefined)
    return holder === identity && transitions === token ? "renew" : "stepDown";
  if (holder === "" || holder === identity) return "acquire";
  return observed.seenAt + leaseDuration > now ? "wait" : "acquire";
}
