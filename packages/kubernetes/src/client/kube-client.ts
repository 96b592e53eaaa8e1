import { isDeepStrictEqual } from "node:util";
import type { Clock } from "@holdfast/clock";
import { requireFunction } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type {
  ApplyInput,
  CreateInput,
  DeepReadonly,
  JsonPatch,
  KubeObject,
  MergePatch,
  StoredObject,
  UpdateInput,
} from "../object/kube-object.ts";
import { acceptFor, requireWritable } from "../object/metadata-of.ts";
import type { ObjectName, ObjectRef } from "../object/object-ref.ts";
import type { Resource, WritableResource } from "../object/resource.ts";
import { objectPath } from "../object/resource-path.ts";
import { ApiError, isNotFound } from "./api-error.ts";
import { type ApiRequest, requestAny } from "./api-request.ts";
import { Applies } from "./applies.ts";
import { withApplies } from "./apply-upgrade.ts";
import { call, type Send } from "./call.ts";
import {
  type KubeApplyOptions,
  type KubeDeleteCollectionOptions,
  type KubeDeleteOptions,
  type KubeListOptions,
  type KubeReadOptions,
  type KubeRequestOptions,
  type KubeUpgradeOptions,
  type KubeWatchEvent,
  type KubeWatchOptions,
  type KubeWriteOptions,
  LIST_OPTIONS,
  READ_OPTIONS,
  resolveCall,
  resolveRequest,
  resolveWatch,
  resolveWrite,
  WRITE_OPTIONS,
} from "./call-options.ts";
import { collectionRequest } from "./collection-request.ts";
import {
  type KubeClientOptions,
  type ResolvedClient,
  resolveClient,
  type WriteHooks,
} from "./kube-client-options.ts";
import { listPages } from "./list-pages.ts";
import { sendTo } from "./subresource.ts";
import { watchObjects } from "./watch-objects.ts";
import {
  applyRequest,
  controllerOf,
  createRequest,
  deleteCollectionRequest,
  deleteRequest,
  type PendingApply,
  type PendingWrite,
  patchRequest,
  updateRequest,
  upgradeRequest,
} from "./write-request.ts";
import { completed, type ObjectRequest, storedOf } from "./written-object.ts";

/**
 * Reads and writes the objects of an API server.
 *
 * | Response | Reaction |
 * | --- | --- |
 * | 429, or 503, which names a time to wait | the call is made again after it: at most `retries` times in a row, and only within the timeout. After a write only if the response is the server's own `Status`: a gateway may have passed it on |
 * | 200, and not an object of the resource | rejects with an {@link ApiError} |
 * | another error of the server | rejects with an {@link ApiError} |
 * | the connection breaks, or there is none | rejects with a `ConnectionError`; a GET on a connection that was idle is sent once more |
 * | the timeout ends | rejects with an error for which `isTimeoutError` of `@holdfast/wait` is true; a write may have happened |
 * | `signal` aborts | rejects with `signal.reason` at once; a write may have happened |
 *
 * JavaScript has no exact integers beyond 2^53. `create`, `update`, `modify` and `apply` reject with a `RangeError` that
 * names the field, if the object has one that was changed when it was read. `patch`, and an update of the status, leave
 * the field as it is.
 *
 * Every object has its `apiVersion` and `kind`. Warnings of the server are logged, each text once; texts that differ in their numbers alone are the same. After 100 texts, a line a minute with `others` stands for new ones.
 *
 * @example
 * ```ts no-run
 * import { builtIn, fromKubectl, KubeClient } from "@holdfast/kubernetes";
 * import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";
 *
 * const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");
 * const client = new KubeClient({ transport: fromKubectl() });
 * await client.create(ConfigMap, { metadata: { namespace: "default", name: "ann" }, data: { a: "1" } });
 * await client.patch(ConfigMap, "default/ann", { data: { a: null, b: "2" } });
 * console.log((await client.get(ConfigMap, "default/ann")).data);
 * for await (const { metadata } of client.list(ConfigMap, { labels: { app: "greeter" } }))
 *   console.log(metadata.name);
 * console.log(await client.delete(ConfigMap, "default/ann"));
 * ```
 */
export class KubeClient {
  readonly #options: ResolvedClient;
  readonly #applies = new Applies();

  /**
   * @param options - see {@link KubeClientOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: KubeClientOptions);
  /** @internal */
  constructor(options: KubeClientOptions, hooks: WriteHooks);
  constructor(options: KubeClientOptions, hooks: WriteHooks = {}) {
    this.#options = resolveClient(options, hooks);
  }

  /**
   * Measures the limits of every call.
   *
   * @internal
   */
  get clock(): Clock {
    return this.#options.target.clock;
  }

  /**
   * Reads an object.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param options - see {@link KubeReadOptions}
   * @returns the object. Rejects with an {@link ApiError} of the reason `NotFound` if there is none
   */
  async get<T extends KubeObject>(
    resource: Resource<T, KubeObject>,
    ref: ObjectRef,
    options: KubeReadOptions = {},
  ): Promise<StoredObject<T>> {
    return await this.#read<StoredObject<T>>(resource, ref, options);
  }

  /**
   * Reads an object that may not exist.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param options - see {@link KubeReadOptions}
   * @returns the object, or undefined. Rejects as `get` does if the server does not know the resource
   */
  async find<T extends KubeObject>(
    resource: Resource<T, KubeObject>,
    ref: ObjectRef,
    options: KubeReadOptions = {},
  ): Promise<StoredObject<T> | undefined> {
    try {
      return await this.#read<StoredObject<T>>(resource, ref, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Lists objects. Reads a page when its first object is wanted.
   *
   * Each object comes once. If the server forgets the version of the list while pages are read, it is listed
   * again; objects that came before are left out then, also if they have changed since.
   *
   * @param resource - the resource
   * @param options - see {@link KubeListOptions}
   * @returns the objects, to be iterated once
   * @throws RangeError or TypeError for a bad argument
   */
  list<T extends KubeObject>(
    resource: Resource<T, KubeObject>,
    options: KubeListOptions = {},
  ): AsyncGenerator<StoredObject<T>, void, undefined> {
    requireResource(resource);
    const given = resolveCall(options, "list", LIST_OPTIONS);
    const { namespace, labels, fields, pageSize = 500, ...limits } = given;
    const list = collectionRequest({ resource, namespace, labels, fields }, "list");
    const { path } = list;
    const { target } = this.#options;
    const send: Send = (request) => call(target, `GET ${path}`, limits, (once) => once(request));
    return eachOnce(resource, path, listPages(send, { ...list, pageSize }));
  }

  /**
   * Watches objects, without a cache: yields each change, until the server closes the watch after 5 minutes, the loop
   * is left, or `signal` aborts. Watch again from the last `resourceVersion` to go on. For a cache of all objects, which
   * survives every failure, use `Cluster.watch`.
   *
   * The first `next` sends the request. A 429 or 503 is handled as for other calls. Later errors end the watch:
   *
   * | Event | Effect |
   * | --- | --- |
   * | the server closes the watch | the iteration ends |
   * | the version is too old, at the start or later | throws an {@link ApiError} with `status` 410: list, or watch without a version |
   * | the connection breaks | throws a `ConnectionError` |
   * | the server does not close it for a minute more | throws an error for which `isTimeoutError` of `@holdfast/wait` is true |
   * | `signal` aborts | throws `signal.reason` at once; events that have arrived are dropped |
   *
   * @param resource - the resource
   * @param options - see {@link KubeWatchOptions}
   * @returns the events, to be iterated once
   * @throws RangeError or TypeError for a bad argument
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { builtIn } from "@holdfast/kubernetes";
   * import { FakeApi } from "@holdfast/fake-apiserver";
   *
   * const ConfigMap = builtIn("v1", "ConfigMap");
   * const { client } = new FakeApi({ clock: new FakeClock(), resources: [ConfigMap] });
   * await client.create(ConfigMap, { metadata: { namespace: "default", name: "ann" } });
   * let resourceVersion: string | undefined;
   * for await (const event of client.watch(ConfigMap, { resourceVersion, labels: {} })) {
   *   resourceVersion = event.resourceVersion; // to go on from here
   *   console.log(event.type, event.object?.metadata.name); // => ADDED ann
   *   break;
   * }
   * ```
   */
  watch<T extends KubeObject>(
    resource: Resource<T, KubeObject>,
    options: KubeWatchOptions = {},
  ): AsyncGenerator<KubeWatchEvent<T>, void, undefined> {
    requireResource(resource);
    const { limits, query } = resolveWatch(options);
    const { namespace, labels, fields } = options;
    const request = collectionRequest({ resource, namespace, labels, fields }, "watch", query);
    return watchObjects(this.#options.target, { resource, request, limits });
  }

  /**
   * Creates an object.
   *
   * @param resource - the resource
   * @param object - the object, with a name or a `generateName`. A review, such as a `TokenReview`, has neither: the
   * server answers it
   * @param options - see {@link KubeWriteOptions}
   * @returns the object as stored. Rejects with an {@link ApiError} of the reason `AlreadyExists` if there is
   * one with this name
   */
  async create<T extends KubeObject, Written extends KubeObject>(
    resource: WritableResource<T, Written>,
    object: NoInfer<CreateInput<Written>>,
    options: KubeWriteOptions = {},
  ): Promise<StoredObject<T>> {
    const { fieldManager: manager } = this.#options;
    return await this.#write(
      createRequest({ resource, object: object as AnyObject, options, manager }),
    );
  }

  /**
   * Replaces an object.
   *
   * @param resource - the resource
   * @param object - the whole object, with the `resourceVersion` it was read with
   * @param options - see {@link KubeWriteOptions}
   * @returns the object as stored. Rejects with an {@link ApiError} of the reason `Conflict` if it has
   * changed since
   */
  async update<T extends KubeObject, Written extends KubeObject>(
    resource: WritableResource<T, Written>,
    object: NoInfer<UpdateInput<Written>>,
    options: KubeWriteOptions = {},
  ): Promise<StoredObject<T>> {
    const { fieldManager: manager } = this.#options;
    return await this.#write(
      updateRequest({ resource, object: object as AnyObject, options, manager }),
    );
  }

  /**
   * Changes parts of an object, in any version.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param patch - an array is a JSON patch (RFC 6902), an object a merge patch (RFC 7386), in which `null`
   * removes a field
   * @param options - see {@link KubeWriteOptions}
   * @returns the object as stored. Rejects with an {@link ApiError} of the reason `NotFound` if there is none,
   * `Invalid` if a `test` of a JSON patch fails
   */
  async patch<T extends KubeObject, Written extends KubeObject>(
    resource: WritableResource<T, Written>,
    ref: ObjectRef,
    patch: NoInfer<MergePatch<Written> | JsonPatch>,
    options: KubeWriteOptions = {},
  ): Promise<StoredObject<T>> {
    const { fieldManager: manager } = this.#options;
    return await this.#write(patchRequest({ resource, ref, patch, options, manager }));
  }

  /**
   * Creates an object, or changes it so that it has these fields: server-side apply. Fields that an earlier
   * call with the same field manager had, and this one has not, are removed.
   *
   * With `cached`, nothing is sent if the object has these fields already.
   *
   * @param resource - the resource
   * @param object - name, and the fields that this field manager decides. Its `metadata.managedFields` are not sent
   * @param options - see {@link KubeApplyOptions}
   * @returns the object as stored, or a copy of `cached` if nothing was sent. With `force: false`, rejects with an {@link ApiError} of the reason
   * `Conflict` if another manager owns one of the fields. With `owned: true`, rejects with one of the reason
   * `AlreadyExists` if the object has another controller than `object`, or none
   */
  async apply<T extends KubeObject, Written extends KubeObject>(
    resource: WritableResource<T, Written>,
    object: NoInfer<ApplyInput<Written>>,
    options: KubeApplyOptions = {},
  ): Promise<StoredObject<T>> {
    const { fieldManager: manager } = this.#options;
    const pending = applyRequest({ resource, object: object as AnyObject, options, manager });
    const { cached } = options;
    if (cached !== undefined && this.#applies.changesNothing(pending, cached)) {
      options.signal?.throwIfAborted();
      this.#options.target.onSkipped(resource);
      return structuredClone(cached) as StoredObject<T>;
    }
    if (pending.controller === undefined) return await this.#write(pending);
    const { request, limits, facts } = pending;
    const name = `${request.method} ${request.path}`;
    return await call(this.#options.target, name, limits, (send) =>
      this.#ownedRequest(pending, send)
        .then((owned) => sendTo(facts, send, owned))
        .then((response) => this.#written(pending, response)),
    );
  }

  /**
   * Reads an object, changes it, and replaces it; again from the start if it changed meanwhile, until the timeout, or if
   * the server was too busy for one of the requests.
   * The delays grow from 10 ms to 1 s, with full jitter.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param change - changes the object it receives, a copy. May return a promise. Called once for each attempt
   * @param options - see {@link KubeWriteOptions}. With the subresource `"status"` the object itself is read, with
   * another the subresource
   * @returns the object as stored. Nothing is sent if `change` changed nothing. Rejects with a `TimeoutError` of
   * `@holdfast/wait` after the timeout; its `cause` is the last `Conflict`
   */
  async modify<T extends KubeObject>(
    resource: WritableResource<T, KubeObject>,
    ref: ObjectRef,
    change: (object: StoredObject<T>) => unknown,
    options: KubeWriteOptions = {},
  ): Promise<StoredObject<T>> {
    requireWritable(resource, "modify");
    requireFunction("change", change);
    const { target, fieldManager: manager } = this.#options;
    const limits = resolveWrite(options, manager, "modify", WRITE_OPTIONS);
    const { subresource } = limits;
    const source = objectPath(resource, ref, subresource === "status" ? undefined : subresource);
    const read = { method: "GET", path: source } as const;
    const attempt = async (send: Send): Promise<StoredObject<T>> => {
      const response = await sendTo({ resource, subresource }, send, read);
      const stored = this.#stored<StoredObject<T>>(resource, { ...read, subresource }, response);
      const object = structuredClone(stored);
      await change(object);
      if (isDeepStrictEqual(object, stored)) return stored;
      const pending = updateRequest({ resource, object, options, manager });
      return this.#written(pending, await sendTo(pending.facts, send, pending.request));
    };
    const name = `PUT ${objectPath(resource, ref, subresource)}`;
    return await call(target, name, { ...limits, conflictBackoff: CONFLICT_BACKOFF }, attempt);
  }

  /**
   * Makes fields that a field manager has updated fields that it has applied, so that a later `apply` withdraws those that it
   * leaves out. Without it they stay for good: a server keeps the updates of a manager apart from its applies, and an apply
   * without `force` is a `Conflict` with its own earlier update. Call it once for objects that an earlier version of a
   * program, or another program, wrote with `create`, `update` or `patch`.
   *
   * It reads the object, and patches `metadata.managedFields` alone; again from the start if the object changed meanwhile,
   * as `modify` does. Updates of the status become applies of the status.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param options - see {@link KubeUpgradeOptions}
   * @returns the object as stored. Nothing is sent if there is no such update
   *
   * @remarks
   * Source: `csaupgrade` of k8s.io/client-go/util.
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
   * import { FakeApi } from "@holdfast/fake-apiserver";
   *
   * const ConfigMap = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "ConfigMap");
   * const clock = new FakeClock();
   * const { transport } = new FakeApi({ clock, resources: [ConfigMap] });
   * const client = new KubeClient({ transport, clock, fieldManager: "greeter" });
   * const metadata = { namespace: "default", name: "ann" };
   * await client.create(ConfigMap, { metadata, data: { a: "1", b: "2" } });
   * await client.upgradeToApply(ConfigMap, "default/ann");
   * console.log((await client.apply(ConfigMap, { metadata, data: { a: "1" } })).data); // => { a: '1' }
   * ```
   */
  async upgradeToApply<T extends KubeObject>(
    resource: WritableResource<T, KubeObject>,
    ref: ObjectRef,
    options: KubeUpgradeOptions = {},
  ): Promise<StoredObject<T>> {
    const { target, fieldManager } = this.#options;
    const { pending, upgrade } = upgradeRequest({ resource, ref, options, manager: fieldManager });
    const { request, limits, facts } = pending;
    const read = { method: "GET", path: request.path, subresource: undefined } as const;
    const attempt = async (send: Send): Promise<StoredObject<T>> => {
      const stored = this.#stored<StoredObject<T>>(resource, read, await send(read));
      const { managedFields, resourceVersion } = stored.metadata;
      const value = withApplies(managedFields, upgrade);
      if (value === undefined) return stored;
      const body = [
        { op: "replace", path: "/metadata/managedFields", value },
        // A conflict if the object has changed. A failed "test" would be no conflict.
        { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
      ];
      return this.#written(pending, await sendTo(facts, send, { ...request, body }));
    };
    const name = `${request.method} ${request.path}`;
    return await call(target, name, { ...limits, conflictBackoff: CONFLICT_BACKOFF }, attempt);
  }

  /**
   * Sends a request to any path of the server, for what no other method does: logs of a Pod, `/version`, an API that
   * is none of resources. Caches learn of a write by their watch.
   *
   * @param options - see {@link KubeRequestOptions}
   * @returns the response: parsed if its type is JSON, or else its text. Rejects as the other methods do
   *
   * @example
   * ```ts no-run
   * import { fromKubectl, KubeClient } from "@holdfast/kubernetes";
   *
   * const client = new KubeClient({ transport: fromKubectl() });
   * const { gitVersion } = await client.request<{ gitVersion: string }>({ path: "/version" });
   * const path = "/api/v1/namespaces/default/pods/web-0/log";
   * console.log(gitVersion, await client.request<string>({ path, query: { tailLines: 10 } }));
   * ```
   */
  async request<Response = unknown>(options: KubeRequestOptions): Promise<Response> {
    const { request, limits } = resolveRequest(options);
    const name = `${request.method} ${request.path}`;
    const { target } = this.#options;
    const any = { ...limits, sendOnce: requestAny };
    return (await call(target, name, any, (send) => send(request))) as Response;
  }

  /**
   * Deletes an object. If it has finalizers, it is there until the last one is removed.
   *
   * @param resource - the resource
   * @param ref - name and namespace
   * @param options - see {@link KubeDeleteOptions}
   * @returns true, or false if there was none. Rejects with an {@link ApiError} of the reason `Conflict` if its
   * UID or version is another
   */
  async delete<T extends KubeObject>(
    resource: WritableResource<T, KubeObject>,
    ref: ObjectRef,
    options: KubeDeleteOptions = {},
  ): Promise<boolean> {
    const write = deleteRequest(resource, ref, options);
    try {
      await this.#write(write);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /**
   * Deletes all objects of a resource, or those that a namespace and selectors name. Caches learn of it by their watch. It
   * needs the verb `deletecollection`.
   *
   * @param resource - the resource
   * @param options - see {@link KubeDeleteCollectionOptions}
   * @returns resolves when the server has deleted the objects, or marked those with finalizers. A timeout may leave some
   *
   * @example
   * ```ts
   * import { FakeClock } from "@holdfast/clock/testing";
   * import { builtIn } from "@holdfast/kubernetes";
   * import { FakeApi } from "@holdfast/fake-apiserver";
   *
   * const ConfigMap = builtIn("v1", "ConfigMap");
   * const { client } = new FakeApi({ clock: new FakeClock(), resources: [ConfigMap] });
   * for (const name of ["a", "b"])
   *   await client.create(ConfigMap, { metadata: { namespace: "default", name, labels: { name } } });
   * await client.deleteCollection(ConfigMap, { namespace: "default", labels: { name: "a" } });
   * for await (const { metadata } of client.list(ConfigMap)) console.log(metadata.name); // => b
   * ```
   */
  async deleteCollection<T extends KubeObject>(
    resource: WritableResource<T, KubeObject>,
    options: KubeDeleteCollectionOptions = {},
  ): Promise<void> {
    const { request, limits } = deleteCollectionRequest(resource, options);
    const name = `${request.method} ${request.path}`;
    await call(this.#options.target, name, limits, (send) => send(request));
  }

  #read<Body>(resource: Resource, ref: ObjectRef, options: KubeReadOptions): Promise<Body> {
    requireResource(resource);
    const { subresource, ...limits } = resolveCall(options, "get", READ_OPTIONS);
    const path = objectPath(resource, ref, subresource);
    const request = { method: "GET", path, accept: acceptFor(resource, "object") } as const;
    return call(this.#options.target, `GET ${path}`, limits, (send) =>
      sendTo({ resource, subresource }, send, request).then((response) =>
        this.#stored<Body>(resource, { ...request, subresource }, response),
      ),
    );
  }

  #stored<Body>(
    resource: Resource,
    request: Omit<ObjectRequest, "server">,
    response: object,
  ): Body {
    const server = this.#options.target.transport.description;
    return storedOf(resource, response, { ...request, server });
  }

  #write<Body>(pending: PendingWrite): Promise<Body> {
    const { request, limits, facts } = pending;
    const name = `${request.method} ${request.path}`;
    const { target } = this.#options;
    return call(target, name, limits, (send) =>
      sendTo(facts, send, request).then((response) => this.#written<Body>(pending, response)),
    );
  }

  /** The request for an object that has its controller, or does not exist. */
  async #ownedRequest(
    { request, facts, controller }: PendingApply,
    send: Send,
  ): Promise<ApiRequest> {
    const { resource } = facts;
    const ref = facts.ref as ObjectName;
    const read = { method: "GET", path: objectPath(resource, ref) } as const;
    const found = await send(read).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    // Without force: if the object is created meanwhile, its fields are those of others.
    if (found === undefined) return { ...request, query: { ...request.query, force: false } };
    const whole = { ...read, subresource: undefined };
    const stored = this.#stored<StoredObject<KubeObject>>(resource, whole, found);
    const { method, path, body } = request;
    const { plural, group } = resource;
    const { uid } = stored.metadata;
    if (controllerOf(stored) !== controller)
      throw new ApiError({
        status: 409,
        reason: "AlreadyExists",
        message: `${plural} "${ref.name}" already exists, and has another controller or none`,
        details: { name: ref.name, group, kind: plural },
        method,
        path,
      });
    // The UID is a condition: an object that replaced this one meanwhile was not checked.
    const { metadata, ...rest } = body as KubeObject;
    return { ...request, body: { ...rest, metadata: { ...metadata, uid } } };
  }

  #written<Body>(pending: PendingWrite, response: object): Body {
    const { facts, request, isNameless } = pending;
    const { resource, verb, subresource } = facts;
    const object: KubeObject & { details?: { uid?: string } } =
      verb === "delete"
        ? completed(resource, response) // a Status, or the object
        : this.#stored(resource, { ...request, subresource, isNameless }, response);
    if (isNameless) return object as Body;
    if (verb === "apply") this.#applies.learn(pending, object);
    const { name, uid = object.details?.uid } = object.metadata ?? {};
    // A response to `generateName` has a name: `storedOf` has checked it.
    const ref = { ...facts.ref, name: (facts.ref.name ?? name) as string };
    this.#options.onWrite?.({ ...facts, ref, response: object, uid });
    return object as Body;
  }
}

type AnyObject = DeepReadonly<KubeObject>;

/** Delays between the attempts of `modify`, in milliseconds. */
const CONFLICT_BACKOFF = { duration: 10, factor: 2, cap: 1_000, jitter: "full" } as const;

async function* eachOnce<T extends KubeObject>(
  resource: Resource<T, KubeObject>,
  path: string,
  pages: ReturnType<typeof listPages>,
): AsyncGenerator<StoredObject<T>, void, undefined> {
  const seen = new Set<string>();
  let hasRestarted = false;
  for await (const { items, isRestart } of pages) {
    hasRestarted ||= isRestart;
    for (const item of items) {
      const { metadata } = (item ?? {}) as Partial<StoredObject<T>>;
      if (typeof metadata !== "object" || metadata === null)
        throw new TypeError(`the list GET ${path} has an item that is not an object`);
      const { uid } = metadata;
      const object = completed<StoredObject<T>>(resource, item);
      if (hasRestarted && seen.has(uid)) continue;
      seen.add(uid);
      yield object;
    }
  }
}
