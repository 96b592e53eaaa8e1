import { findError } from "@holdfast/clock";
import { requireMethods, requireText } from "@holdfast/kit";
import { poll } from "@holdfast/wait";
import { builtIn } from "../object/built-in.ts";
import { fromCrd } from "../object/custom-resource.ts";
import type { KubeObject, ObjectMeta, StoredObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import { ApiError, isApiError, isNotServed } from "./api-error.ts";
import { limited } from "./call.ts";
import { CALL_OPTIONS, type KubeCallOptions, resolveCall } from "./call-options.ts";
import type { KubeClient } from "./kube-client.ts";

/** Milliseconds between two looks at the server. */
const PERIOD = 100;

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

/** How the server converts objects. */
interface Conversion {
  readonly webhook?: { readonly clientConfig?: { readonly caBundle?: string } };
}

/** A definition whose spec `fromCrd` has checked. */
interface CrdObject extends KubeObject {
  metadata: ObjectMeta;
  spec: { versions: { name: string; served?: boolean }[]; conversion?: Conversion };
  status?: { conditions?: Condition[] };
}

const Crd = builtIn<CrdObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");

/** Options for {@link ensureCrd}. */
export interface EnsureCrdOptions extends KubeCallOptions {}

/**
 * Creates a CustomResourceDefinition, or replaces the spec of the existing one, and waits until the
 * server serves its objects: until it is established, and each served version was listed once.
 *
 * It does not wait until a changed schema is in force: a server gives no sign of that, and each server of a
 * cluster takes the change over by itself, mostly within a second. Until then objects are checked, pruned and given
 * defaults by the old schema. So do not rely on a new field right after an update; reconcile again.
 *
 * Labels and annotations of the manifest are added to those that are there, and the `caBundle` of a conversion stays, unless
 * the manifest has one. The role needs `get`, `create`
 * and `update` for `customresourcedefinitions`, and `list` for the objects.
 *
 * @param client - sends the requests
 * @param manifest - CustomResourceDefinition of `apiextensions.k8s.io/v1`, as an object
 * @param options - signal, and timeout of the whole call
 * @returns the definition as stored. Rejects if another definition has one of its names, after the timeout, and with
 * `signal.reason` after an abort. It always rejects on a `FakeApi`, which has its definitions from `resources`
 *
 * @example
 * ```ts no-run
 * import { ensureCrd, fromKubectl, KubeClient } from "@holdfast/kubernetes";
 *
 * await ensureCrd(new KubeClient({ transport: fromKubectl() }), {
 *   apiVersion: "apiextensions.k8s.io/v1",
 *   kind: "CustomResourceDefinition",
 *   metadata: { name: "greetings.example.org" },
 *   spec: {
 *     group: "example.org", scope: "Namespaced",
 *     names: { kind: "Greeting", plural: "greetings", singular: "greeting" },
 *     versions: [{
 *       name: "v1", served: true, storage: true, subresources: { status: {} },
 *       schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
 *     }],
 *   },
 * });
 * ```
 */
export async function ensureCrd(
  client: KubeClient,
  manifest: object,
  options: EnsureCrdOptions = {},
): Promise<StoredObject<KubeObject>> {
  requireMethods("client", client, ["find", "create", "modify", "list"]);
  const resources = resourcesOf(manifest);
  const crd = manifest as CrdObject;
  const { name = "" } = crd.metadata;
  requireText("metadata.name of manifest", name);
  const { clock } = client;
  let missing = "the definition is not written yet";
  const call = {
    ...resolveCall(options, "ensureCrd", CALL_OPTIONS),
    name: `CustomResourceDefinition ${name}`,
    clock,
    cause: () => new Error(missing),
  };
  // Each `async` step more would be a frame between an error and the caller.
  return limited(call, (signal) => {
    const until = { signal, clock, backoff: { duration: PERIOD } };
    const limits = { signal, retries: call.retries };
    return poll(() => ifServed(write(client, { crd, name, limits })), until)
      .then(() => {
        missing = "the definition is not established";
        return poll(() => ifServed(findEstablished(client, name, limits)), until);
      })
      .then(async (stored) => {
        for (const resource of resources) {
          missing = `${resource.apiVersion} is not served`;
          await poll(() => isListed(client, resource, limits), until);
        }
        return stored;
      });
  });
}

/** The resource of each served version. */
function resourcesOf(manifest: object): readonly Resource[] {
  fromCrd(manifest);
  const { spec } = manifest as CrdObject;
  const served = spec.versions.filter((version) => version.served === true);
  return served.map((version) => fromCrd(manifest, version.name));
}

interface Definition {
  readonly crd: CrdObject;
  readonly name: string;
  readonly limits: KubeCallOptions;
}

/** Undefined while the server does not serve the path, as for a moment after its start. */
function ifServed<Value>(work: Promise<Value>): Promise<Value | undefined> {
  return work.catch((error: unknown) => {
    if (isNotServed(error)) return undefined;
    throw error;
  });
}

function write(client: KubeClient, definition: Definition): Promise<unknown> {
  const { crd, name, limits } = definition;
  const update = () => modify(client, definition);
  return client.find(Crd, name, limits).then((found) => {
    if (found !== undefined) return update();
    return client.create(Crd, crd, limits).catch((error: unknown) => {
      if (isApiError(error, "AlreadyExists")) return update(); // another replica was faster
      throw error;
    });
  });
}

function modify(client: KubeClient, { crd, name, limits }: Definition): Promise<unknown> {
  return client.modify(
    Crd,
    name,
    (stored) => {
      const { labels, annotations } = crd.metadata;
      if (labels !== undefined) stored.metadata.labels = { ...stored.metadata.labels, ...labels };
      if (annotations !== undefined)
        stored.metadata.annotations = { ...stored.metadata.annotations, ...annotations };
      stored.spec = withBundle(crd.spec, stored.spec.conversion);
    },
    limits,
  );
}

/** Keeps the `caBundle` of the server: manifests have none, and conversions fail until it is written anew. */
function withBundle(spec: CrdObject["spec"], stored: Conversion | undefined): CrdObject["spec"] {
  const { webhook } = spec.conversion ?? {};
  const caBundle = stored?.webhook?.clientConfig?.caBundle;
  if (webhook?.clientConfig === undefined || caBundle === undefined) return spec;
  const clientConfig = { caBundle, ...webhook.clientConfig };
  return { ...spec, conversion: { ...spec.conversion, webhook: { ...webhook, clientConfig } } };
}

async function findEstablished(
  client: KubeClient,
  name: string,
  limits: KubeCallOptions,
): Promise<StoredObject<KubeObject> | undefined> {
  const stored = await client.find(Crd, name, limits);
  const conditions = stored?.status?.conditions ?? [];
  const find = (wanted: string) => conditions.find(({ type }) => type === wanted);
  const names = find("NamesAccepted");
  if (names?.status === "False") {
    const { message = "" } = names;
    throw new Error(
      `the names of CustomResourceDefinition ${name} are taken: ${message.slice(0, 1_000)}`,
    );
  }
  return find("Established")?.status === "True" ? stored : undefined;
}

async function isListed(
  client: KubeClient,
  resource: Resource,
  limits: KubeCallOptions,
): Promise<boolean> {
  try {
    await client.list(resource, { pageSize: 1, ...limits }).next();
    return true;
  } catch (error) {
    const { status, message = "" } = findError(error, ApiError) ?? {};
    if (status === 404) return false;
    // It is served: its objects can be read once the operator, which may wait here, converts them.
    if (status === 500 && message.includes("conversion webhook for")) return true;
    throw error;
  }
}
