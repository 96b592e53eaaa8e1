import type { Clock } from "@holdfast/clock";
import { aborted } from "@holdfast/clock";
import type { Logger, Runnable } from "@holdfast/controller";
import {
  callSafely,
  type Kinds,
  kind,
  read,
  requireArray,
  requireClock,
  requireMethods,
  requireOptions,
} from "@holdfast/kit";
import { isObject, type JsonObject, requireResource, resourceName } from "@holdfast/kit/kubernetes";
import { loop } from "@holdfast/wait/loop";
import { isApiError } from "../client/api-error.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { KubernetesMetrics } from "../kubernetes-metrics.ts";
import { LOGGER } from "../logger.ts";
import { builtIn } from "../object/built-in.ts";
import type { JsonPatch, KubeObject, ObjectMeta, StoredObject } from "../object/kube-object.ts";
import { metadataOf } from "../object/metadata-of.ts";
import { keyOf } from "../object/object-ref.ts";
import type { Resource } from "../object/resource.ts";
import { type EntryTarget, renamedEntries } from "./renamed-entries.ts";

/** Milliseconds until every API server of a cluster has seen a change of a definition, and between two tries. */
const SETTLE = 60_000;

/** Objects that are patched at the same time. */
const WIDTH = 4;

/** A kind with several versions, as {@link migrateStorage} reads it. */
export interface MigratedResource {
  /** Kind. */
  readonly kind: string;

  /** Version in which the server stores objects. */
  readonly storage: string;

  /** The manifest. */
  readonly crd: object;
}

/** What {@link migrateStorage} works with: an `OperatorContext` is one. */
export interface MigrationContext {
  /** Client of the cluster. */
  readonly client: Pick<KubeClient, "get" | "list" | "patch">;

  /** Clock of the waits. */
  readonly clock: Clock;

  /** Receiver of log lines: the start and the end of a migration, and each pass with failures. */
  readonly logger: Logger;

  /** Receiver of the progress: `migrated` of {@link KubernetesMetrics}. Default: none. */
  readonly metrics?: Pick<KubernetesMetrics, "migrated"> | undefined;
}

/** Options for {@link migrateStorage}. */
export interface MigrateStorageOptions {
  /**
   * Versions that a later release removes: their entries in the managed fields of all objects are renamed, without the
   * fields that the stored version lacks. Serve them no more, or clients write new entries.
   *
   * @defaultValue none
   */
  readonly retire?: readonly string[] | undefined;
}

export const MIGRATE_STORAGE_OPTIONS: Kinds<MigrateStorageOptions> = {
  retire: kind("versionNames", (path, names) => requireArray(path, names)),
};

interface Definition extends KubeObject {
  spec: { versions: { name: string; storage: boolean }[] };
  status?: { storedVersions?: string[] };
}
const Crd = builtIn<Definition>("apiextensions.k8s.io/v1", "CustomResourceDefinition");

type Listed = StoredObject<KubeObject> & { metadata: ObjectMeta & { managedFields?: unknown } };

/**
 * Writes every object of a kind once, so that the server stores it in the version of `storage`, and then removes the other
 * versions from `status.storedVersions` of the CustomResourceDefinition. Run it in the work of the leader.
 *
 * It begins 60 seconds after it has seen that the server stores this version: until then an API server of the cluster may still
 * store the last one. Four objects at a time, a pass lists metadata in pages and sends one patch for each object: an empty one of
 * the status, which neither fills in defaults nor raises the generation; of the object itself if the kind has no status, or if
 * entries of its managed fields are renamed. An object that somebody else has written meanwhile needs none; with `retire` it is
 * looked at again at once. A pass that finds nothing to write is the last one. Objects that failed, and other errors, are logged
 * and tried again after 60 seconds. A process that is killed starts over: an object that is done costs a request and no write.
 *
 * The role needs `list` on the kind, `patch` on it and on its status, `get` on `customresourcedefinitions`, and `patch` on
 * `customresourcedefinitions/status`, the last two by the name of the definition.
 *
 * @param resource - a resource of `customResource` with versions
 * @param context - of the operator
 * @param options - see {@link MigrateStorageOptions}
 * @returns the work. An abort ends it at once
 * @throws TypeError or RangeError that names the argument
 *
 * @example
 * ```ts no-run
 * import { customResource, inCluster, migrateStorage, runOperator } from "@holdfast/kubernetes";
 * import { z } from "zod";
 *
 * const spec = z.object({ url: z.string() });
 * const Mirror = customResource({
 *   group: "example.org", kind: "Mirror", plural: "mirrors",
 *   versions: { v1: { spec, served: false }, v2: { spec } },
 *   storage: "v2",
 * });
 * await runOperator({
 *   name: "mirror",
 *   transport: inCluster(),
 *   signals: process,
 *   setup: (context) => () => [migrateStorage(Mirror, context, { retire: ["v1"] })],
 * });
 * ```
 */
export function migrateStorage(
  resource: MigratedResource,
  context: MigrationContext,
  options: MigrateStorageOptions = {},
): Runnable {
  requireOptions("resource", resource);
  const { storage, crd } = resource;
  const stored = (resource as unknown as JsonObject)[storage] as Resource | undefined;
  if (stored === undefined || !isObject(crd))
    throw new TypeError("resource must be made by customResource with versions");
  requireResource(stored);
  requireOptions("context", context);
  requireMethods("context.client", context.client, ["get", "list", "patch"]);
  requireClock("context.clock", context.clock);
  requireMethods("context.logger", context.logger, LOGGER);
  if (context.metrics !== undefined) requireOptions("context.metrics", context.metrics);
  const { retire = [] } = read("options", options, "migrateStorage", MIGRATE_STORAGE_OPTIONS);
  const { versions } = (crd as { spec: { versions: Version[] } }).spec;
  const others = versions.map(({ name }) => name).filter((name) => name !== storage);
  for (const [index, name] of retire.entries())
    if (!others.includes(name))
      throw new RangeError(
        `options.retire[${index}] must be a version besides the stored one (${others.join(", ") || "none"}), got ${JSON.stringify(name)}`,
      );
  const { schema, subresources } = versions.find(({ name }) => name === storage) as Version;
  const migration = new Migration(stored, context, {
    from: new Set(retire.map((name) => `${stored.group}/${name}`)),
    to: stored.apiVersion,
    schema: schema.openAPIV3Schema,
    hasStatus: subresources?.status !== undefined,
  });
  return { name: `storage ${resourceName(stored)}`, run: (signal) => migration.run(signal) };
}

interface Version {
  readonly name: string;
  readonly schema: { readonly openAPIV3Schema: JsonObject };
  readonly subresources?: { readonly status?: object };
}

interface Target extends EntryTarget {
  readonly hasStatus: boolean;
}

/** What a pass over all objects has done. */
interface Pass {
  written: number;
  failed: number;
  error?: unknown;
}

class Migration {
  readonly #resource: Resource;
  readonly #context: MigrationContext;
  readonly #target: Target;
  readonly #name: string;

  constructor(resource: Resource, context: MigrationContext, target: Target) {
    this.#resource = resource;
    this.#context = context;
    this.#target = target;
    this.#name = `${resource.plural}.${resource.group}`;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    let isSettled = false;
    const run = async (): Promise<boolean> => {
      const isDone = await this.#attempt(isSettled, signal);
      isSettled = true;
      return isDone;
    };
    await loop({ run, isDone: Boolean, delay: () => SETTLE, clock, signal });
    await aborted(signal);
  }

  /** Whether all is done. `isSettled`: the last attempt was a minute ago. */
  async #attempt(isSettled: boolean, signal: AbortSignal): Promise<boolean> {
    try {
      const definition = await this.#context.client.get(Crd, this.#name, { signal });
      const { version } = this.#resource;
      const stores = definition.spec.versions.find(({ storage }) => storage)?.name;
      const names = definition.status?.storedVersions ?? [];
      if (stores !== version) {
        this.#log("debug", { stores }, "storage not migrated: the server stores another version");
        return false;
      }
      const isStored = names.every((name) => name === version);
      if (isStored && this.#target.from.size === 0) return true;
      if (!isSettled) {
        this.#log("info", { storedVersions: names }, "storage is migrated in a minute");
        return false;
      }
      return await this.#migrate(definition, signal);
    } catch (err) {
      if (signal.aborted) throw signal.reason;
      this.#log("warn", { err }, "storage not migrated; tried again in a minute");
      return false;
    }
  }

  async #migrate(definition: StoredObject<Definition>, signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const { written, failed, error } = await this.#pass(signal);
      if (failed > 0) {
        this.#log("warn", { failed, err: error }, "storage not migrated; tried again in a minute");
        return false;
      }
      if (written === 0) break;
    }
    const { version } = this.#resource;
    const { resourceVersion } = definition.metadata;
    if (definition.status?.storedVersions?.some((name) => name !== version) === true)
      await this.#context.client.patch(
        Crd,
        this.#name,
        { metadata: { resourceVersion }, status: { storedVersions: [version] } },
        { subresource: "status", signal },
      );
    this.#log("info", {}, "storage migrated");
    return true;
  }

  /** One patch for each object. */
  async #pass(signal: AbortSignal): Promise<Pass> {
    const pass: Pass = { written: 0, failed: 0 };
    const objects = this.#context.client.list(metadataOf(this.#resource), { signal });
    const worker = async (): Promise<void> => {
      for (;;) {
        const { value, done } = await objects.next();
        if (done === true) return;
        let object: Listed | undefined = value as Listed;
        while (object !== undefined) object = await this.#write(object, pass, signal);
      }
    };
    const workers = await Promise.allSettled(Array.from({ length: WIDTH }, worker));
    for (const result of workers) if (result.status === "rejected") throw result.reason;
    return pass;
  }

  /** @returns the object as it is now, if it has to be written again */
  async #write(object: Listed, pass: Pass, signal: AbortSignal): Promise<Listed | undefined> {
    const { client, metrics } = this.#context;
    const { resourceVersion } = object.metadata;
    const patch = this.#patchOf(object.metadata);
    // A write of the status leaves managed fields alone.
    const isOfStatus = this.#target.hasStatus && !Array.isArray(patch);
    try {
      const options = { ...(isOfStatus && { subresource: "status" }), signal };
      const made = await client.patch(this.#resource, keyOf(object), patch, options);
      if (made.metadata.resourceVersion !== resourceVersion) pass.written += 1;
      this.#count(metrics, "migrated");
    } catch (error) {
      if (signal.aborted) throw error;
      if (isApiError(error, "NotFound")) return undefined;
      // Somebody else has written it, in the stored version; its managed fields may be of any.
      if (isApiError(error, "Conflict"))
        return this.#target.from.size > 0 ? await this.#read(object, signal) : undefined;
      pass.failed += 1;
      pass.error = error;
      this.#count(metrics, "failed");
    }
    return undefined;
  }

  /** By a list, to which the migration has a right. */
  async #read({ metadata }: Listed, signal: AbortSignal): Promise<Listed | undefined> {
    const { name, namespace } = metadata;
    const options = { ...(namespace && { namespace }), fields: { "metadata.name": name }, signal };
    const found = this.#context.client.list(metadataOf(this.#resource), options);
    return (await found.next()).value as Listed | undefined;
  }

  /** Only for the version that was listed: a Conflict otherwise. */
  #patchOf({ resourceVersion, managedFields }: Listed["metadata"]): JsonPatch | object {
    const entries = Array.isArray(managedFields) ? managedFields.filter(isObject) : [];
    const renamed = renamedEntries(entries, this.#target);
    if (renamed === undefined) return { metadata: { resourceVersion } };
    return [
      { op: "replace", path: "/metadata/managedFields", value: renamed },
      { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion },
    ];
  }

  #count(metrics: MigrationContext["metrics"], result: "migrated" | "failed"): void {
    callSafely(() => metrics?.migrated?.(resourceName(this.#resource), result));
  }

  #log(level: "debug" | "info" | "warn", details: object, message: string): void {
    callSafely(() => this.#context.logger[level]({ crd: this.#name, ...details }, message));
  }
}
