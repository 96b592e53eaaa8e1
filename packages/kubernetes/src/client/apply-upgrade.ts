/** A part of an entry of `metadata.managedFields`. */
interface ManagedEntry {
  readonly manager?: unknown;
  readonly operation?: unknown;
  readonly subresource?: unknown;
  readonly fieldsV1?: unknown;
}

/** Whose updates become applies. */
export interface ApplyUpgrade {
  /** Managers whose updates are taken. */
  readonly from: readonly string[];

  /** The manager that has applied them afterwards. */
  readonly manager: string;
}

/**
 * The entries of `metadata.managedFields` with the updates of some managers as if they were applied. A server knows one
 * apply of a manager for the object and for each subresource: the fields of all are put together there.
 *
 * @returns the entries. Undefined if there is no such update
 */
export function withApplies(
  managedFields: readonly ManagedEntry[] | undefined,
  { from, manager }: ApplyUpgrade,
): readonly ManagedEntry[] | undefined {
  const isTaken = ({ manager: by, operation }: ManagedEntry): boolean =>
    operation === "Update" && from.includes(by as string);
  const taken = managedFields?.filter(isTaken) ?? [];
  if (managedFields === undefined || taken.length === 0) return undefined;
  const entries = managedFields.filter((entry) => !isTaken(entry));
  for (const { subresource, fieldsV1, ...rest } of taken) {
    const at = entries.findIndex(
      (one) =>
        one.operation === "Apply" && one.manager === manager && one.subresource === subresource,
    );
    const applied = entries[at];
    const fields = united(applied?.fieldsV1, fieldsV1);
    const place = subresource === undefined ? {} : { subresource };
    const own = applied ?? { ...rest, ...place, manager, operation: "Apply" };
    entries.splice(at === -1 ? entries.length : at, 1, { ...own, fieldsV1: fields });
  }
  return entries;
}

/** The fields of two sets in the form `FieldsV1`. */
function united(a: unknown, b: unknown): unknown {
  if (!isFields(a) || !isFields(b)) return a ?? b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, united(a[name], b[name])]));
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
