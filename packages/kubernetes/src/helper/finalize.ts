import { findError } from "@holdfast/clock";
import type { ReconcileResult } from "@holdfast/controller";
import {
  anything,
  func,
  type Kinds,
  kind,
  read,
  required,
  requireMethods,
  requireOptions,
  requireText,
} from "@holdfast/kit";
import { ApiError, isNotFound } from "../client/api-error.ts";
import type { KubeWriteOptions } from "../client/call-options.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { CachedObject, JsonPatch, KubeObject } from "../object/kube-object.ts";
import { requireWritable } from "../object/metadata-of.ts";
import { keyOf } from "../object/object-ref.ts";
import type { Resource, WritableResource } from "../object/resource.ts";
import {
  additionOf,
  type FinalizedObject,
  finalizedPart,
  finalizerStep,
  removalOf,
} from "./finalizer-patch.ts";

/** The client checks the limits of a request. */
export const REMOVE_FINALIZER_OPTIONS: Kinds<RemoveFinalizerOptions> = {
  finalizer: required(kind("finalizer", requireFinalizer)),
  signal: anything,
  timeout: anything,
  fieldManager: anything,
};

export const FINALIZE_OPTIONS: Kinds<FinalizeOptions<never>> = {
  ...REMOVE_FINALIZER_OPTIONS,
  apply: required(func),
  cleanup: required(func),
};

/** How often an object whose list of finalizers has moved is read again. */
const MAX_READS = 5;

// As IsFinalizerName of k8s.io/apimachinery, without the few names of Kubernetes itself.
const NAME =
  /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Options for {@link removeFinalizer}: the finalizer, and the limits of each request. */
export interface RemoveFinalizerOptions
  extends Pick<KubeWriteOptions, "signal" | "timeout" | "fieldManager"> {
  /** Name of the finalizer, for example `example.org/cleanup`. */
  readonly finalizer: string;
}

/** Options for {@link finalize}: the finalizer, its two sides, and the limits of each request. */
export interface FinalizeOptions<T extends KubeObject> extends RemoveFinalizerOptions {
  /**
   * Brings the outside to the state of the object, which has the finalizer and is not being deleted.
   *
   * @param object - the object as it was given, or as the server returned it with the new finalizer
   */
  apply(object: CachedObject<T>): ReconcileResult | PromiseLike<ReconcileResult>;

  /**
   * Removes from the outside all that belongs to the object. It may run again after it has succeeded, if the
   * finalizer could not be removed.
   *
   * @param object - the object, which is being deleted
   * @returns nothing when all is removed; `{ requeueAfter }` keeps the finalizer and comes back
   */
  cleanup(object: CachedObject<T>): ReconcileResult | PromiseLike<ReconcileResult>;
}

/** The part of a client that {@link finalize} uses. */
export type FinalizeClient = Pick<KubeClient, "find" | "patch">;

/**
 * Reconciles an object that owns something outside of the cluster, so that it is not gone before that is
 * removed. Call it in a reconciler and return its result.
 *
 * | The object | Its finalizer | Effect |
 * | --- | --- | --- |
 * | lives | is missing | adds it, then calls `apply` |
 * | lives | is there | calls `apply` |
 * | is being deleted | is there | calls `cleanup`, and removes it when that has returned nothing |
 * | is being deleted | is missing | nothing |
 *
 * An error of `apply` or `cleanup` rejects, and the finalizer stays. So a failed clean-up keeps an object that is being
 * deleted: pass `failureEvents` to the controller of `runOperator`, and an Event of the object says why. Finalizers of others are never written:
 * each patch names the UID of the object and the place of the finalizer, and is refused if either has changed.
 * Then the object is read again, at most 5 times. An object that is gone meanwhile counts as done; a 404
 * without the reason `NotFound`, of a server that starts, rejects.
 *
 * @param client - see {@link FinalizeClient}; a `KubeClient` is one
 * @param resource - the resource of the object
 * @param object - the object, such as one of an informer
 * @param options - see {@link FinalizeOptions}; an abort rejects with `signal.reason`
 * @returns the result of `apply`, or of a `cleanup` that is not done
 * @throws ApiError if the server refuses a patch, TypeError or RangeError for a bad argument
 *
 * Source: `finalizer` of kube-rs, without its removal after a failed cleanup.
 *
 * @example
 * ```ts no-run
 * import { Controller } from "@holdfast/controller";
 * import { type Cluster, customResource, finalize } from "@holdfast/kubernetes";
 *
 * const Bucket = customResource({ apiVersion: "example.org/v1", kind: "Bucket", plural: "buckets" });
 * declare const cluster: Cluster;
 * declare const storage: { create(name: string): Promise<void>; remove(name: string): Promise<void> };
 *
 * const buckets = cluster.watch(Bucket);
 * new Controller({
 *   name: "buckets",
 *   sources: [buckets.source()],
 *   async reconcile({ key, signal }) {
 *     const bucket = buckets.get(key);
 *     if (bucket === undefined) return;
 *     return finalize(cluster.client, Bucket, bucket, {
 *       finalizer: "example.org/bucket",
 *       apply: ({ metadata }) => storage.create(metadata.uid),
 *       cleanup: ({ metadata }) => storage.remove(metadata.uid),
 *       signal,
 *     });
 *   },
 * });
 * ```
 */
export async function finalize<T extends KubeObject>(
  client: FinalizeClient,
  resource: WritableResource<T, KubeObject>,
  object: CachedObject<T>,
  options: FinalizeOptions<T>,
): Promise<ReconcileResult> {
  requireMethods("client", client, ["find", "patch"]);
  requireWritable(resource, "finalize");
  requireObject(object);
  const given = read("options", options, "finalize", FINALIZE_OPTIONS);
  const writer = new FinalizerWriter<T>(client, resource, given);
  const stepOf = (part: FinalizedObject) => finalizerStep(part, given.finalizer);
  const step = stepOf(finalizedPart(object));
  if (step === "none") return undefined;
  if (step === "cleanup") {
    const result = await options.cleanup(object);
    if (result?.requeueAfter !== undefined) return result;
    await writer.write(object, (part) => stepOf(part) === "cleanup", removalOf);
    return undefined;
  }
  const applied = await writer.write(object, (part) => stepOf(part) === "add", additionOf);
  const isDue = applied !== undefined && stepOf(finalizedPart(applied)) === "apply";
  return isDue ? await options.apply(applied) : undefined;
}

/**
 * Removes a finalizer from an object that lives on, because it is no longer in the scope of the operator. Undo what
 * `apply` of {@link finalize} has done before. An object that is being deleted is the business of `finalize`.
 *
 * @param client - see {@link FinalizeClient}; a `KubeClient` is one
 * @param resource - the resource of the object
 * @param object - the object, such as one of an informer. One without the finalizer is left alone
 * @param options - see {@link RemoveFinalizerOptions}; an abort rejects with `signal.reason`
 * @returns a promise that resolves when the object does not have the finalizer, or is gone
 * @throws ApiError if the server refuses the patch, TypeError or RangeError for a bad argument
 *
 * Source: `RemoveFinalizer` of sigs.k8s.io/controller-runtime/pkg/controller/controllerutil, which changes a copy.
 *
 * @example
 * ```ts no-run
 * import { builtIn, type CachedObject, type KubeClient, removeFinalizer } from "@holdfast/kubernetes";
 *
 * const Secret = builtIn("v1", "Secret");
 * declare const client: KubeClient;
 *
 * async function leave(secret: CachedObject, signal: AbortSignal) {
 *   await removeFinalizer(client, Secret, secret, { finalizer: "example.org/copies", signal });
 * }
 * ```
 */
export async function removeFinalizer<T extends KubeObject>(
  client: FinalizeClient,
  resource: WritableResource<T, KubeObject>,
  object: CachedObject<T>,
  options: RemoveFinalizerOptions,
): Promise<void> {
  requireMethods("client", client, ["find", "patch"]);
  requireWritable(resource, "removeFinalizer");
  requireObject(object);
  const given = read("options", options, "removeFinalizer", REMOVE_FINALIZER_OPTIONS);
  const { finalizer } = given;
  const isThere = ({ metadata }: FinalizedObject) =>
    metadata.finalizers?.includes(finalizer) === true;
  await new FinalizerWriter<T>(client, resource, given).write(object, isThere, removalOf);
}

/** The finalizer of one reconcile. */
class FinalizerWriter<T extends KubeObject> {
  readonly #client: FinalizeClient;
  readonly #resource: Resource<T, KubeObject>;
  readonly #finalizer: string;
  readonly #limits: Pick<KubeWriteOptions, "signal" | "timeout">;
  readonly #fieldManager: string | undefined;

  constructor(
    client: FinalizeClient,
    resource: Resource<T, KubeObject>,
    options: RemoveFinalizerOptions,
  ) {
    const { finalizer, signal, timeout, fieldManager } = options;
    this.#client = client;
    this.#resource = resource;
    this.#finalizer = finalizer;
    this.#limits = { signal, timeout };
    this.#fieldManager = fieldManager;
  }

  /**
   * Writes once if the write is due. Returns the object as it is then, or undefined if it is gone or was replaced.
   */
  async write(
    object: CachedObject<T>,
    isDue: (object: FinalizedObject) => boolean,
    patchOf: (object: FinalizedObject, finalizer: string) => JsonPatch,
  ): Promise<CachedObject<T> | undefined> {
    let current: CachedObject<T> | undefined = object;
    for (let reads = 0; current !== undefined; reads++) {
      const part = finalizedPart(current);
      if (!isDue(part)) return current;
      const ref = keyOf(current);
      try {
        return await this.#patch(ref, patchOf(part, this.#finalizer));
      } catch (error) {
        if (findError(error, ApiError)?.status !== 422 || reads === MAX_READS) throw error;
      }
      current = await this.#read(ref, part.metadata.uid);
    }
    return undefined;
  }

  /** Undefined if the object is gone. */
  async #patch(ref: string, patch: JsonPatch): Promise<CachedObject<T> | undefined> {
    try {
      const options = { ...this.#limits, fieldManager: this.#fieldManager };
      const patched = await this.#client.patch(this.#resource, ref, patch, options);
      return patched as CachedObject<T>;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Undefined if the object is gone, or another one has its name. */
  async #read(ref: string, uid: string): Promise<CachedObject<T> | undefined> {
    const found = await this.#client.find(this.#resource, ref, this.#limits);
    return found?.metadata.uid === uid ? (found as CachedObject<T>) : undefined;
  }
}

function requireObject(object: CachedObject<KubeObject>): void {
  requireOptions("object", object);
  requireOptions("object.metadata", object.metadata);
  requireText("object.metadata.uid", object.metadata.uid);
}

function requireFinalizer(path: string, finalizer: string): void {
  requireText(path, finalizer);
  if (!NAME.test(finalizer))
    throw new RangeError(
      `${path} must be a finalizer such as "example.org/cleanup", got ${JSON.stringify(finalizer.slice(0, 300))}`,
    );
}
