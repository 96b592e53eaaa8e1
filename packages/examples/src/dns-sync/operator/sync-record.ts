import type { ReconcileResult } from "@holdfast/controller";
import type { CachedObject, Informer, OperatorContext } from "@holdfast/kubernetes";
import { finalize, ownConditions } from "@holdfast/kubernetes";
import { isTerminalError, jitter } from "@holdfast/wait";
import { type Provider, StaleTokenError } from "./provider.ts";
import { DnsRecord, type Item, type Zone } from "./resources.ts";

type CachedItem = CachedObject<Item>;
type More = { zones: Informer<Zone>; provider: Provider; signal: AbortSignal };
type Context = OperatorContext & More;

/** Syncs one DnsRecord to the provider and reports the result in its status. */
export async function syncRecord(record: CachedItem, context: Context): Promise<ReconcileResult> {
  const { client, provider, signal } = context;
  const apply = (one: CachedItem): Promise<ReconcileResult> => put(one, context);
  const cleanup = async ({ metadata: { uid: owner } }: CachedItem): Promise<void> => {
    for (const one of await provider("GET", { owner }, signal))
      await provider("DELETE", one, signal);
  };
  try {
    const finalizer = "dns.example.org/remote";
    return await finalize(client, DnsRecord, record, { finalizer, apply, cleanup, signal });
  } catch (error) {
    if (signal.aborted || error instanceof StaleTokenError) throw error;
    const state = isTerminalError(error) ? "Rejected" : "Retrying";
    await report(record, state, (error as Error).message, context);
    throw error;
  }
}

async function put(record: CachedItem, context: Context): Promise<ReconcileResult> {
  const { zones, provider, signal, random } = context;
  const { namespace, uid: owner } = record.metadata;
  const { host, type = "", value = "" } = record.spec; // missing in records of another CRD version
  const zone = zones.get({ namespace, name: record.spec.zone });
  if (!zone) return await report(record, "ZoneNotFound", `no DnsZone ${record.spec.zone}`, context);
  const ttl = `${record.spec.ttl ?? zone.spec.ttl}`;
  const name = `${host}.${zone.spec.domain}`;
  let isThere = false;
  for (const one of await provider("GET", { owner }, signal)) {
    if (one.name !== name || one.type !== type) await provider("DELETE", one, signal);
    else isThere = one.value === value && one.ttl === ttl;
  }
  const wanted = { name, type, value, ttl, owner };
  if (!isThere) await provider("PUT", wanted, signal);
  await report(record, "Synced", `${name} is at the provider`, context);
  return { requeueAfter: jitter(Number(ttl) * 500, 0.2, random) }; // checks for drift
}

async function report(record: CachedItem, reason: string, message: string, context: Context) {
  const { name, namespace, generation: observedGeneration } = record.metadata;
  const status = reason === "Synced" ? "True" : "False";
  const ready = { type: "Ready", status, reason, message, observedGeneration } as const;
  const before = record.status?.conditions ?? [];
  const conditions = ownConditions(before, [ready], context.clock);
  if (conditions.every((condition) => before.includes(condition))) return;
  const applied = { metadata: { name, namespace }, status: { state: reason, conditions } };
  const { client, events, signal } = context;
  await client.apply(DnsRecord, applied, { subresource: "status", signal });
  const problem = { type: "Warning", reason, action: "Sync", note: message } as const;
  if (status === "False") events.record(record, problem);
}
