import type { DeepReadonly, StoredObject } from "@holdfast/kubernetes";
import type { Remote } from "../operator/provider.ts";
import type { Item, Zone } from "../operator/resources.ts";
import { keyOf, problemOf } from "../provider/remote-records.ts";

export type StoredRecord = DeepReadonly<StoredObject<Item>>;
export type StoredZone = DeepReadonly<StoredObject<Zone>>;

/** The remote record of a DnsRecord; undefined if the provider should have none. */
export function desiredOf(record: StoredRecord, zones: ZoneTable): Remote | undefined {
  const { metadata, spec } = record;
  const zone = zones.get(`${metadata.namespace}/${spec.zone}`);
  if (metadata.deletionTimestamp !== undefined || zone === undefined) return undefined;
  const remote: Remote = {
    name: `${spec.host}.${zone.spec.domain}`,
    type: spec.type,
    value: spec.value,
    ttl: `${spec.ttl ?? zone.spec.ttl}`,
    owner: metadata.uid,
  };
  return problemOf(remote) === undefined ? remote : undefined;
}

/** Zones by namespace and name. */
export type ZoneTable = ReadonlyMap<string, StoredZone>;

/**
 * Compares a provider with the DnsRecords of a cluster. Of records with the same name and type, any may hold them.
 *
 * @returns name and type of each difference
 */
export function differencesBetween(
  records: readonly StoredRecord[],
  zones: ZoneTable,
  remote: readonly Remote[],
): readonly string[] {
  const wanted = new Map<string, Remote[]>();
  for (const record of records) {
    const desired = desiredOf(record, zones);
    if (desired === undefined) continue;
    const key = keyOf(desired);
    wanted.set(key, [...(wanted.get(key) ?? []), desired]);
  }
  const there = new Map(remote.map((one) => [keyOf(one), one]));
  const keys = new Set([...wanted.keys(), ...there.keys()]);
  return [...keys].filter((key) => {
    const one = there.get(key);
    return !(wanted.get(key) ?? []).some((desired) => isSame(desired, one));
  });
}

function isSame(desired: Remote, there: Remote | undefined): boolean {
  const { value, ttl, owner } = desired;
  return there?.value === value && there.ttl === ttl && there.owner === owner;
}

/** Whether the status of a record is correct for its latest spec. */
export function isObserved(record: StoredRecord, zones: ZoneTable): boolean {
  const { status, metadata } = record;
  const ready = status?.conditions.find(({ type }) => type === "Ready");
  if (ready === undefined || ready.observedGeneration !== metadata.generation) return false;
  const isWanted = desiredOf(record, zones) !== undefined;
  // A valid record stays unready while another record holds its name.
  if (ready.message.includes("belongs to another record")) return isWanted;
  return (ready.status === "True") === isWanted;
}
