import type { Clock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  ApiError,
  builtIn,
  findError,
  KubeClient,
  type KubeObject,
  type KubeTransport,
} from "@holdfast/kubernetes";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";

const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");

interface Entry {
  readonly manager: string;
  readonly operation: string;
  readonly fieldsV1: object;
}

function entriesOf({ metadata }: KubeObject): Record<string, object> {
  const entries = (metadata?.managedFields ?? []) as Entry[];
  return Object.fromEntries(
    entries.map(({ manager, operation, fieldsV1 }) => [`${manager} ${operation}`, fieldsV1]),
  );
}

/** What a server makes of an upgrade to apply: data and owners after each step. */
export async function upgradeScript(
  { transport, clock }: { readonly transport: KubeTransport; readonly clock?: Clock },
  namespace: string,
): Promise<Record<string, unknown>> {
  const clientOf = (fieldManager: string): KubeClient =>
    new KubeClient({ transport, clock, fieldManager, logger: silentLogger });
  const [client, old, other] = [clientOf("me"), clientOf("old"), clientOf("other")];
  const metadata = { namespace, name: "upgraded" };
  const seen: Record<string, unknown> = {};
  const note = (step: string, { data, ...rest }: ConfigMapObject): void => {
    seen[step] = { data, ...entriesOf(rest as KubeObject) };
  };
  await old.create(ConfigMap, { metadata, data: { a: "1", b: "2" } });
  await client.patch(ConfigMap, metadata, { data: { c: "3" } });
  await other.patch(ConfigMap, metadata, { data: { d: "4" } });
  await client.apply(ConfigMap, { metadata, data: { a: "1", e: "5" } });
  const conflict = await client
    .apply(ConfigMap, { metadata, data: { c: "4" } }, { force: false })
    .catch((error: unknown) => findError(error, ApiError)?.details.causes);
  seen["conflict with its own update"] = conflict;
  note(
    "kept by an apply without it",
    await client.apply(ConfigMap, { metadata, data: { a: "1" } }),
  );
  note("upgraded, tried", await client.upgradeToApply(ConfigMap, metadata, { dryRun: true }));
  note("upgraded", await client.upgradeToApply(ConfigMap, metadata));
  const { metadata: upgraded } = await client.upgradeToApply(ConfigMap, metadata);
  const { metadata: again } = await client.upgradeToApply(ConfigMap, metadata);
  seen["again changes nothing"] = upgraded.resourceVersion === again.resourceVersion;
  note("taken over", await client.upgradeToApply(ConfigMap, metadata, { from: ["old", "none"] }));
  note("withdrawn", await client.apply(ConfigMap, { metadata, data: { a: "1" } }));
  return seen;
}

const ALL = { a: "1", b: "2", c: "3", d: "4" };
const [own, a, b, c, d] = [{ ".": {} }, { "f:a": {} }, { "f:b": {} }, { "f:c": {} }, { "f:d": {} }];
const OLD = { "old Update": { "f:data": { ...own, ...a, ...b } } };
const OTHER = { "other Update": { "f:data": d } };
const UPDATED = { data: ALL, ...OLD, ...OTHER, "me Apply": { "f:data": { ...own, ...a, ...c } } };

/** The outcome on a server of Kubernetes 1.36. */
export const UPGRADED: Record<string, unknown> = {
  "conflict with its own update": [
    { reason: "FieldManagerConflict", message: 'conflict with "me" using v1', field: ".data.c" },
  ],
  "kept by an apply without it": {
    data: ALL,
    ...OLD,
    ...OTHER,
    "me Update": { "f:data": c },
    "me Apply": { "f:data": { ...own, ...a } },
  },
  "upgraded, tried": UPDATED,
  upgraded: UPDATED,
  "again changes nothing": true,
  "taken over": {
    data: ALL,
    ...OTHER,
    "me Apply": { "f:data": { ...own, ...a, ...b, ...c } },
  },
  withdrawn: { data: { a: "1", d: "4" }, ...OTHER, "me Apply": { "f:data": { ...own, ...a } } },
};
