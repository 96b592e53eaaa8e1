import type { LeaseRecord } from "./lease-record.ts";

/** A record and the monotonic instant at which this process first saw it. */
export interface Observation {
  readonly record: LeaseRecord;
  readonly seenAt: number;
}

/** Next step of an elector. */
export type LeaseDecision = "wait" | "acquire" | "renew" | "stepDown";

/** Facts for {@link decideLease}. */
export interface LeaseFacts {
  readonly identity: string;
  /** Token of the own term; undefined for a candidate. */
  readonly token: number | undefined;
  /** Latest record, even if it was removed since; undefined if there never was one. */
  readonly observed: Observation | undefined;
  /** Now, on the own monotonic clock. */
  readonly now: number;
}

/**
 * Decides the next step of an elector from the latest record. It uses only instants of its own clock:
 * how long ago it saw the record change, compared with the duration that the record states.
 *
 * A record with the own identity and another token comes from an earlier run, or from another process
 * with the same identity. A leader steps down when it sees one; a candidate takes it over.
 */
export function decideLease({ identity, token, observed, now }: LeaseFacts): LeaseDecision {
  if (observed === undefined) return token === undefined ? "acquire" : "renew";
  const { holder, leaseDuration, transitions } = observed.record;
  if (token !== undefined)
    return holder === identity && transitions === token ? "renew" : "stepDown";
  if (holder === "" || holder === identity) return "acquire";
  return observed.seenAt + leaseDuration > now ? "wait" : "acquire";
}
