import type { ServedResource } from "../resource/served-resource.ts";
import type { Admission } from "../webhooks/admission.ts";

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
