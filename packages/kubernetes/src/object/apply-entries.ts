import type { KubeObject } from "./kube-object.ts";

/** An entry of `metadata.managedFields` for the fields of a server-side apply. */
export interface ApplyEntry {
  readonly manager?: unknown;
  readonly apiVersion?: unknown;
  readonly subresource?: unknown;
  /** Fields in the form `FieldsV1`. */
  readonly fieldsV1?: unknown;
}

/** The entries of cached objects without `managedFields`, as JSON: a tenth of the memory of the parsed fields. */
const KEPT = new WeakMap<object, string>();

/** Keeps what was applied to an object beside the object that is cached for it. */
export function keepApplyEntries(
  cached: { readonly metadata?: { readonly managedFields?: unknown } | undefined },
  managedFields: unknown,
): void {
  if (cached.metadata?.managedFields !== undefined) return;
  const entries = appliesOf(managedFields);
  if (entries.length > 0) KEPT.set(cached, JSON.stringify(entries));
}

/** What was applied to an object that an informer has cached or a client has read. */
export function applyEntriesOf(object: { readonly metadata?: unknown }): readonly ApplyEntry[] {
  const { managedFields } = (object.metadata ?? {}) as NonNullable<KubeObject["metadata"]>;
  if (managedFields !== undefined) return appliesOf(managedFields);
  const kept = KEPT.get(object);
  return kept === undefined ? [] : (JSON.parse(kept) as ApplyEntry[]);
}

function appliesOf(managedFields: unknown): ApplyEntry[] {
  if (!Array.isArray(managedFields)) return [];
  return managedFields
    .filter((entry) => entry?.operation === "Apply")
    .map(({ manager, apiVersion, subresource, fieldsV1 }) => ({
      manager,
      apiVersion,
      subresource,
      fieldsV1,
    }));
}
