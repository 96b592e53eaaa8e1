// The releases of docs/upgrading-the-crd.md, and every way back, under writes of two managers on a real server.
import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  atUrl,
  builtIn,
  ensureCrd,
  KubeClient,
  type KubeObject,
  runOperator,
} from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { freePort } from "../../../../services/free-port.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { Crd, migrate } from "../../../../test/migrated-storage.ts";
import { CronTasks } from "../../src/cron-task/resources.ts";
import { jobTemplate } from "./cron-world.ts";

/** Objects on the ways back, and from then on. */
const FEW = 50;
const COUNT = Number(process.env["CRON_TASKS"] ?? 200);
const NAMESPACE = "default";
const SERVICE = "cron-task";
const NAME = "crontasks.batch.example.org";

type Version = "v1" | "v2";
interface Manifest {
  readonly spec: {
    readonly versions: readonly { readonly name: string }[];
    readonly conversion: object;
  };
}

/** The definition of a release. */
function release(storage: Version, served: readonly Version[], versions = ["v1", "v2"]) {
  const { spec, ...rest } = CronTasks.crd as Manifest;
  const clientConfig = {
    service: { name: SERVICE, namespace: NAMESPACE, path: "/convert", port: 443 },
  };
  const webhook = { conversionReviewVersions: ["v1"], clientConfig };
  const conversion = versions.length > 1 ? { strategy: "Webhook", webhook } : { strategy: "None" };
  const stated = spec.versions
    .filter(({ name }) => versions.includes(name))
    .map((one) => ({
      ...one,
      storage: one.name === storage,
      served: served.includes(one.name as Version),
    }));
  return {
    ...CronTasks,
    storage,
    served,
    crd: { ...rest, spec: { ...spec, versions: stated, conversion } },
  };
}
const N = release("v1", ["v1"], ["v1"]);
const N1 = release("v1", ["v1", "v2"]);
const N1_WITHOUT_V2 = release("v1", ["v1"]);
const N2 = release("v2", ["v1", "v2"]);
const N3 = release("v2", ["v2"]);
const N4 = release("v2", ["v2"], ["v2"]);

/** Two managers, who write all the time: one the schedule, the other whether it is suspended. */
class Users {
  readonly failures: unknown[] = [];
  writes = 0;
  #count = 0;
  readonly #client: KubeClient;
  readonly #minutes: number[] = [];
  readonly #suspended: boolean[] = [];
  #versions: { one: Version; two: Version } = { one: "v1", two: "v1" };
  #writing: Promise<unknown>[] = [];

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Writes in these versions from now on. */
  async use(one: Version, two: Version): Promise<void> {
    this.#versions = { one, two };
    await Promise.all(this.#writing);
  }

  /** Creates objects until there are so many. */
  async create(count: number): Promise<void> {
    const indexes = Array.from({ length: count }, (_, index) => index).slice(this.#count);
    const worker = async (): Promise<void> => {
      for (let index = indexes.pop(); index !== undefined; index = indexes.pop()) {
        await this.#schedule(index, "v1", 0);
        this.#suspended[index] = false;
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    this.#count = count;
  }

  async write(signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted && this.failures.length === 0; n++) {
      const [first, second] = [(n * 7) % this.#count, (n * 11) % this.#count];
      this.#writing = [
        this.#schedule(first, this.#versions.one, n % 60),
        this.#suspend(second, this.#versions.two, n % 2 === 0),
      ].map((write) => write.catch((error: unknown) => this.failures.push(error)));
      await Promise.all(this.#writing);
      this.writes += 2;
    }
  }

  async #schedule(index: number, version: Version, minute: number): Promise<void> {
    const fields = { minute: `${minute}`, hour: "3", dayOfMonth: "*", month: "*", dayOfWeek: "1" };
    const schedule = version === "v2" ? fields : Object.values(fields).join(" ");
    await this.#apply("one", index, version, { schedule, jobTemplate });
    this.#minutes[index] = minute;
  }

  async #suspend(index: number, version: Version, suspend: boolean): Promise<void> {
    await this.#apply("two", index, version, { suspend });
    this.#suspended[index] = suspend;
  }

  async #apply(fieldManager: string, index: number, version: Version, spec: object) {
    const object = { metadata: { namespace: NAMESPACE, name: `task-${index}` }, spec };
    // A conflict would tell that the fields are no longer those of their manager.
    const options = { fieldManager, force: false, retries: 0 };
    return await this.#client.apply(CronTasks[version] as never, object as never, options);
  }

  /** What both have written is there, and still theirs. */
  async requireAll(): Promise<void> {
    expect(this.failures).toEqual([]);
    const found = new Map<string, unknown>();
    for await (const { metadata, spec } of this.#client.list(CronTasks.v2)) {
      found.set(metadata.name, [spec.schedule, spec.suspend]);
    }
    for (let index = 0; index < this.#count; index++) {
      const schedule = expect.objectContaining({ minute: `${this.#minutes[index]}`, hour: "3" });
      expect(found.get(`task-${index}`)).toEqual([schedule, this.#suspended[index]]);
    }
  }
}

ownServerTest(
  "two managers lose nothing from release n to n+4, and on every way back",
  async () => {
    await using server = await ApiServer.start();
    const { url, ca, adminToken } = server;
    const transport = atUrl(url, { ca, token: () => adminToken });
    const client = new KubeClient({ transport });
    const stop = new AbortController();
    const port = await freePort();
    await client.create(builtIn<KubeObject>("v1", "Service"), {
      metadata: { name: SERVICE, namespace: NAMESPACE },
      spec: { ports: [{ port: 443, targetPort: port }] },
    } as object);
    await client.create(builtIn<KubeObject>("discovery.k8s.io/v1", "EndpointSlice"), {
      metadata: {
        ...{ name: SERVICE, namespace: NAMESPACE },
        labels: { "kubernetes.io/service-name": SERVICE },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "", port, protocol: "TCP" }],
    } as object);
    await ensureCrd(client, N.crd);
    const running = runOperator(
      {
        ...{ name: "cron-task", leaderElection: false, health: false, logger: silentLogger },
        transport: {
          ...{ description: transport.description, namespace: NAMESPACE },
          send: (request, signal) => transport.send(request, signal),
        },
        setup: () => () => [],
        webhooks: { service: SERVICE, convert: [CronTasks], port, drain: 0 },
      },
      stop.signal,
    );
    const users = new Users(client);
    await users.create(FEW);
    const writing = users.write(stop.signal);
    const log: string[] = [];
    let current = N;

    /** Makes a definition that of the server, and lets the users write in its versions. */
    const define = async (to: ReturnType<typeof release>): Promise<void> => {
      const [kept = "v1"] = to.served.filter((version) => current.served.includes(version));
      await users.use(kept, kept); // nobody uses a version that goes
      await ensureCrd(client, to.crd);
      // The version that is stored shows nowhere. A server takes a definition over within about a second.
      await realClock.sleep(3_000);
      for (const version of to.served)
        await poll(
          async () => (await client.list(CronTasks[version] as never).next()).done === false,
          { timeout: 60_000, onError: () => undefined },
        );
      current = to;
      await users.use(to.served[0] as Version, to.served.at(-1) as Version);
    };
    const move = async (to: ReturnType<typeof release>, retire: Version[] = []): Promise<void> => {
      const began = realClock.monotonic();
      await define(to);
      const seen = await migrate({ resource: to, client, retire });
      expect(new Set(seen)).toEqual(new Set([`${NAME} migrated`]));
      const { status } = await client.get(Crd, NAME);
      expect(status?.storedVersions).toEqual([to.storage]);
      log.push(`${to.storage}, ${seen.length} patches in ${realClock.monotonic() - began} ms`);
    };

    await define(N1);
    await move(N1_WITHOUT_V2, ["v2"]);
    await define(N); // back
    await define(N1);
    await move(N2);
    await move(N1); // back
    await move(N2);
    await move(N3, ["v1"]);
    await define(N2); // back
    await move(N1); // back
    await users.create(COUNT);
    await move(N2);
    await move(N3, ["v1"]);
    await define(N4);
    stop.abort();
    await Promise.all([writing, running]);
    console.log(`${users.writes} writes`, log);
    await users.requireAll();
  },
  600_000,
);
