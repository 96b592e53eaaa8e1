import type { CachedObject, KubeObject, ObjectMeta } from "../object/kube-object.ts";
import type { AdmissionRequest, WebhookContext, WebhookOperation, WebhookUser } from "./webhook.ts";

/** A reason against an object: 422 `Invalid` with it, as the API server's own. */
export interface ReviewCause {
  /** Path of the field: `spec.schedule`. Default: the whole object. */
  readonly field?: string | undefined;

  /** The reason in words, for the writer of the object. */
  readonly message: string;

  /** The kind of the reason. Default: `FieldValueInvalid`. */
  readonly reason?:
    | "FieldValueInvalid"
    | "FieldValueRequired"
    | "FieldValueForbidden"
    | "FieldValueDuplicate"
    | "FieldValueNotFound"
    | "FieldValueNotSupported"
    | undefined;
}

/** A request under review, for a handler. */
export interface Review<T extends KubeObject = KubeObject> {
  /** The operation on the object. */
  readonly operation: WebhookOperation;

  /** The object before an update. Undefined for a new one. */
  readonly old: CachedObject<T> | undefined;

  /** Name of the object. Empty while it has none: a mutating webhook sees no name under `generateName`. */
  readonly name: string;

  /** Namespace of the object. Undefined for one of the cluster. */
  readonly namespace: string | undefined;

  /** Subresource that is written. Undefined for the object itself. */
  readonly subresource: string | undefined;

  /** Whether nothing will be stored. */
  readonly dryRun: boolean;

  /** The user who asks. */
  readonly user: WebhookUser;

  /**
   * Warns the writer of the object: `kubectl` prints it. Control characters become spaces, and texts end after 256
   * characters. It works without its object.
   */
  readonly warn: (text: string) => void;

  /** Aborts when nobody waits for the answer any more, or the time for it is over. */
  readonly signal: AbortSignal;
}

/** An object to be checked, with its request. */
export interface ValidatingReview<T extends KubeObject = KubeObject> extends Review<T> {
  /** The object as it would be stored. It fits the schema. For a deletion the object that goes. */
  readonly object: CachedObject<T>;
}

/** An object to be changed, with its request. */
export interface MutatingReview<T extends KubeObject = KubeObject> extends Review<T> {
  /**
   * A copy of the object as its writer sent it, with all its fields: change it. The schema has not been checked, so that
   * fields may have other types, or be missing. A new object has no UID, and under `generateName` no name.
   */
  readonly object: Omit<T, "metadata"> & {
    /** Its metadata. Labels, annotations, finalizers and owners may change. */
    metadata: ObjectMeta;
  };
}

/**
 * Checks an object: returns the reasons against it, or nothing to allow it. An error refuses the request with 500, without
 * its text, and is logged.
 */
export type ValidatingHandler<T extends KubeObject = KubeObject> = (
  review: ValidatingReview<T>,
  context: WebhookContext,
) => ReviewResult | Promise<ReviewResult>;

/** The result of a check: the reasons against an object. */
export type ReviewResult = readonly ReviewCause[] | undefined;

/**
 * Changes `object`. Name, namespace and the other metadata of the server stay, as do `apiVersion` and `kind`. An error
 * refuses the request with 500, without its text, and is logged; for an object that its schema refuses, the API server
 * tells its writer so.
 */
export type MutatingHandler<T extends KubeObject = KubeObject> = (
  review: MutatingReview<T>,
  context: WebhookContext,
) => unknown;

const MAX_WARNING = 256;

/** A class: an object with accessors of its own costs as much as the rest of the call. */
export class ReviewCall {
  readonly warnings: string[] = [];
  readonly operation: string;
  readonly object: unknown;
  readonly old: unknown;
  readonly name: string;
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
  readonly dryRun: boolean;
  readonly user: WebhookUser;
  readonly #caller: { readonly signal: AbortSignal };

  constructor(
    request: AdmissionRequest,
    object: unknown,
    name: string,
    caller: { readonly signal: AbortSignal },
  ) {
    this.operation = request.operation;
    this.object = object;
    this.old = request.oldObject ?? undefined;
    this.name = name;
    this.namespace = request.namespace;
    this.subresource = request.subResource;
    this.dryRun = request.dryRun === true;
    this.user = request.userInfo ?? {};
    this.#caller = caller;
  }

  /** Made by the server when a handler asks for it. */
  get signal(): AbortSignal {
    return this.#caller.signal;
  }

  readonly warn = (text: string): void => {
    this.warnings.push(
      String(text)
        .replace(/\p{Cc}+/gu, " ")
        .slice(0, MAX_WARNING),
    );
  };
}
