import { type ApplyEntry, applyEntriesOf } from "../object/apply-entries.ts";
import type { CachedObject } from "../object/kube-object.ts";
import { isApplied, WholeFields } from "./applied-fields.ts";
import type { PendingWrite } from "./write-request.ts";

/** What a client knows of its server-side applies: which of them would change nothing. */
export class Applies {
  readonly #whole = new Map<string, WholeFields>();

  /** Whether an apply would change nothing of an object that an informer has. False if it cannot be told. */
  changesNothing(pending: PendingWrite, cached: CachedObject): boolean {
    const applied = jsonOf(pending);
    const { uid = cached.metadata.uid } = applied["metadata"] as { uid?: unknown };
    const owned = entryOf(pending, cached)?.fieldsV1;
    const whole = this.#wholeOf(pending);
    return (
      uid === cached.metadata.uid &&
      isApplied(applied, cached as unknown as Record<string, unknown>, { owned, whole })
    );
  }

  /** Learns from the response to an apply. */
  learn(pending: PendingWrite, response: object): void {
    const owned = entryOf(pending, response)?.fieldsV1;
    if (owned !== undefined) this.#wholeOf(pending).learn(jsonOf(pending), owned);
  }

  #wholeOf({ facts: { resource } }: PendingWrite): WholeFields {
    const kind = `${resource.apiVersion} ${resource.kind}`;
    const whole = this.#whole.get(kind) ?? new WholeFields();
    this.#whole.set(kind, whole);
    return whole;
  }
}

/** The entry of the writer in an object. */
function entryOf({ request, facts }: PendingWrite, object: object): ApplyEntry | undefined {
  const { resource, subresource } = facts;
  return applyEntriesOf(object).find(
    (entry) =>
      entry.manager === request.query?.["fieldManager"] &&
      entry.apiVersion === resource.apiVersion &&
      entry.subresource === subresource,
  );
}

/** The body as the server receives it: without members that are undefined. */
function jsonOf({ request }: PendingWrite): Record<string, unknown> {
  return JSON.parse(JSON.stringify(request.body)) as Record<string, unknown>;
}
