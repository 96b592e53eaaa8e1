import type { JsonObject } from "../../object/json.ts";
import type { ServedResource } from "../resource/served-resource.ts";

/** Verb of a request, as in the audit log of Kubernetes. */
export type FakeVerb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "patch"
  | "delete"
  | "deletecollection"
  | "other";

/** An operation as webhooks see it. */
export interface Reviewed {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";

  /** Null for a deletion. */
  readonly object: JsonObject | null;

  /** Null for a new object. */
  readonly old: JsonObject | null;

  /** Empty if the request has none. */
  readonly name: string;
  readonly options: { readonly isDryRun: boolean };

  /** How a deletion treats dependents. */
  readonly propagation?: unknown;
}

/** The webhooks of a write: asked before the checks of its object, and after them. */
export interface Admission {
  /**
   * Asks mutating webhooks.
   *
   * @param read - reads an object as if it had been submitted
   * @returns the object after their patches: the same if they change nothing. Rejects with a Failure
   */
  mutate(
    call: ApiCall,
    given: Reviewed,
    read: (object: JsonObject) => JsonObject,
  ): Promise<JsonObject>;

  /** Asks validating webhooks. Rejects with the Failure of the first that refuses. */
  validate(call: ApiCall, given: Reviewed): Promise<void>;
}

/** A request for objects of a resource. */
export interface ApiCall {
  readonly served: ServedResource;
  readonly verb: Exclude<FakeVerb, "other">;
  readonly namespace: string | undefined;

  /** Name of the object. Empty for a collection. */
  readonly name: string;

  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;

  /** The webhooks that a write asks. Undefined: none. */
  readonly admission?: Admission | undefined;
}

/** Key of an object in its store. */
export function keyOfCall({ namespace }: ApiCall, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
