import type { LeaseRecord } from "@holdfast/controller";
import { formatMicroseconds, parseTimestamp } from "@holdfast/kit/kubernetes";
import type { KubeObject, StoredObject } from "../object/kube-object.ts";

/** Annotation with the fencing token. `leaseTransitions` has 32 bits, and starts at 0 with each new Lease. */
const TOKEN = "holdfast/token";

/** A Lease of `coordination.k8s.io/v1`. */
export interface LeaseObject extends KubeObject {
  /** The lease. */
  spec?: LeaseSpec | undefined;
}

/** The part of a Lease's spec that electors share. */
interface LeaseSpec {
  /** Identity of the leader. Empty or missing if the lease is free. */
  holderIdentity?: string | undefined;

  /** Whole seconds that a holder keeps the lease without a renewal. */
  leaseDurationSeconds?: number | undefined;

  /** Start of the term: RFC 3339 with six digits. */
  acquireTime?: string | undefined;

  /** Latest renewal: RFC 3339 with six digits. */
  renewTime?: string | undefined;

  /** Number of changes of the holder. */
  leaseTransitions?: number | undefined;
}

/**
 * The record in a Lease, written by any elector.
 *
 * | The Lease | The record |
 * | --- | --- |
 * | has a holder and no duration | held for `ownDuration` milliseconds |
 * | has no token: another elector's, or one made by hand | its token is the larger of `leaseTransitions` and the seconds of `renewTime`, so that tokens do not go back |
 *
 * @throws RangeError if the token is 2^53 or above: no later term could have a larger one
 */
export function recordOf(
  { metadata, spec = {} }: StoredObject<LeaseObject>,
  ownDuration: number,
): LeaseRecord {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime } = spec;
  const hasDuration = isWhole(leaseDurationSeconds) && leaseDurationSeconds > 0;
  return {
    holder: holderIdentity ?? "",
    leaseDuration: hasDuration ? leaseDurationSeconds * 1_000 : ownDuration,
    acquiredAt: parseTimestamp(acquireTime),
    renewedAt: parseTimestamp(renewTime),
    transitions: tokenOf(metadata) ?? foreignToken(spec),
  };
}

/** A new Lease with a record. */
export function newLease(
  record: LeaseRecord,
  name: { readonly name: string; readonly namespace: string },
): LeaseObject {
  return {
    metadata: { ...name, annotations: { [TOKEN]: annotation(record) } },
    spec: specOf(record, 0),
  };
}

/**
 * `lease` with another record. All fields that are not of an elector stay. The UID matters too: without it a
 * server creates a Lease that was deleted, although the write names a version.
 *
 * It always differs from `lease`: a write that changes nothing gets no new version, so two writers of one
 * version would both win.
 */
export function withRecord(
  lease: StoredObject<LeaseObject>,
  record: LeaseRecord,
): StoredObject<LeaseObject> {
  const { metadata, spec = {} } = lease;
  const isNewTerm = recordOf(lease, 0).transitions !== record.transitions;
  const changes = (spec.leaseTransitions ?? 0) + (isNewTerm ? 1 : 0);
  const annotations = { ...metadata.annotations, [TOKEN]: annotation(record) };
  return {
    ...lease,
    metadata: { ...metadata, annotations },
    spec: {
      ...spec,
      ...specOf(record, changes),
      renewTime: otherThan(spec.renewTime, record.renewedAt),
    },
  };
}

/** Whole seconds, and up: others must not take the lease before its time is over. */
function specOf(record: LeaseRecord, leaseTransitions: number): Required<LeaseSpec> {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: Math.max(1, Math.ceil(record.leaseDuration / 1_000)),
    acquireTime: formatMicroseconds(record.acquiredAt),
    renewTime: formatMicroseconds(record.renewedAt),
    leaseTransitions,
  };
}

/** The instant with microseconds that differ from those of `before`. They have no meaning. */
function otherThan(before: string | undefined, instant: number): string {
  const time = formatMicroseconds(instant);
  return time === before ? time.replace(/000Z$/, "001Z") : time;
}

function tokenOf(metadata: StoredObject<LeaseObject>["metadata"]): number | undefined {
  const { namespace, name, annotations = {} } = metadata;
  const text = annotations[TOKEN];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  const token = Number(text);
  if (Number.isSafeInteger(token)) return token;
  throw new RangeError(
    `annotation ${TOKEN} of Lease ${namespace}/${name} must be a whole number below 2^53, got "${text.slice(0, 40)}": remove the annotation`,
  );
}

/** The server's time at the last write of a Lease, in seconds. Clocks of holders have no part in it. */
export function writtenAt({ metadata }: StoredObject<LeaseObject>): number {
  const entries = (metadata.managedFields ?? []) as readonly { readonly time?: string }[];
  const times = entries.map(({ time }) => parseTimestamp(time));
  return Math.floor(Math.max(parseTimestamp(metadata.creationTimestamp), ...times, 0) / 1_000);
}

function annotation({ transitions }: LeaseRecord): string {
  if (Number.isSafeInteger(transitions)) return `${transitions}`;
  throw new RangeError(`the token of a Lease must be below 2^53, got ${transitions}`);
}

function foreignToken({ leaseTransitions, renewTime }: LeaseSpec): number {
  const transitions = isWhole(leaseTransitions) ? leaseTransitions : 0;
  return Math.max(transitions, Math.floor(parseTimestamp(renewTime) / 1_000), 0);
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
