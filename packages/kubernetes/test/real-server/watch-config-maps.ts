import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  builtIn,
  Cluster,
  type ClusterOptions,
  type Informer,
  KubeClient,
  type KubeObject,
  type KubeTransport,
  type ObjectChange,
  type Resource,
} from "@holdfast/kubernetes";
import { poll, retry } from "@holdfast/wait";
import { expect } from "vitest";

export interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}
export const ConfigMap: Resource<ConfigMapObject> = builtIn<ConfigMapObject>("v1", "ConfigMap");

/** A cluster that watches the ConfigMaps of a namespace, and everything that it reported. */
export interface Watching extends AsyncDisposable {
  readonly cluster: Cluster;
  /** A client of somebody else: its writes come by the watch alone. */
  readonly client: KubeClient;
  readonly maps: Informer<ConfigMapObject>;
  readonly changes: ObjectChange<ConfigMapObject>[];
}

export interface WatchOptions extends Partial<ClusterOptions> {
  /** Seconds after which the server closes each watch, in place of minutes. */
  readonly shorten?: number;
}

/** Options for {@link watchConfigMaps}. */
interface Ways extends WatchOptions {
  /** The way of the cluster. */
  readonly transport: KubeTransport;
  /** The way of the other client. */
  readonly direct: KubeTransport;
}

/** Watches the ConfigMaps of a namespace. */
export async function watchConfigMaps(
  namespace: string,
  { transport: long, direct, shorten, ...more }: Ways,
): Promise<Watching> {
  const transport = shorten === undefined ? long : withShortWatches(long, shorten);
  const cluster = new Cluster({ transport, logger: silentLogger, ...more });
  const client = new KubeClient({ transport: direct, logger: silentLogger });
  const maps = cluster.watch(ConfigMap, { namespaces: [namespace] });
  const changes: ObjectChange<ConfigMapObject>[] = [];
  const stop = new AbortController();
  const running = cluster.run(stop.signal);
  const failed = (error: unknown): void => {
    throw error;
  };
  const enqueue = (change: ObjectChange<ConfigMapObject>): void => {
    changes.push(change);
  };
  const context = { enqueue, failed, clock: realClock };
  void maps.changes().start(context, stop.signal);
  await cluster.ready(stop.signal);
  const dispose = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  return { cluster, client, maps, changes, [Symbol.asyncDispose]: dispose };
}

function withShortWatches(transport: KubeTransport, seconds: number): KubeTransport {
  const send: KubeTransport["send"] = (request, signal) => {
    const path = request.path.replace(/timeoutSeconds=\d+/, `timeoutSeconds=${seconds}`);
    return transport.send({ ...request, path }, signal);
  };
  return { description: transport.description, send };
}

/** Writes until the server takes it: it may be down, or about to be ready. */
export async function write(client: KubeClient, namespace: string, name: string): Promise<void> {
  const object = { metadata: { namespace, name }, data: { at: `${realClock.now()}` } };
  await retry(() => client.apply(ConfigMap, object), { backoff: { duration: 100, steps: 600 } });
}

/** The names and versions that the server has, and those that the cache has. */
async function bothSides({ client, maps }: Watching, namespace: string): Promise<[string, string]> {
  const versions = (objects: readonly { metadata: { name: string; resourceVersion: string } }[]) =>
    objects
      .map(({ metadata: { name, resourceVersion } }) => `${name}@${resourceVersion}`)
      .sort()
      .join(" ");
  const listed = [];
  for await (const object of client.list(ConfigMap, { namespace })) listed.push(object);
  return [versions(maps.list(namespace)), versions(listed)];
}

/** Resolves when cache and server are equal, and holds them to it. */
export async function becomesEqual(watched: Watching, namespace: string): Promise<void> {
  const compare = async (): Promise<boolean> => {
    const [cached, stored] = await bothSides(watched, namespace);
    return cached === stored;
  };
  await poll(compare, {
    backoff: { duration: 100 },
    timeout: 60_000,
    onError: () => undefined,
  }).catch(() => undefined);
  const [cached, stored] = await bothSides(watched, namespace);
  expect(cached).toBe(stored);
}
