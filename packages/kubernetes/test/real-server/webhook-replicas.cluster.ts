// Replicas of a webhook server as processes, which are killed and frozen under load.
import { X509Certificate } from "node:crypto";
import { realClock } from "@holdfast/clock";
import { atUrl, builtIn, KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { describe, expect } from "vitest";
import { ApiServer } from "../../../../services/apiserver.mjs";
import { ownServerTest } from "../../../../test/cluster.ts";
import { addressed, webhookManifests } from "../../src/webhook/webhook-manifests.ts";
import { Candidate } from "./candidate.ts";
import { check, Tasks } from "./replica-task.mjs";

const SERVICE = "hooks";
const NAMESPACE = "default";
const PLACE = { service: SERVICE, namespace: NAMESPACE, certificate: undefined };

const ADMISSION = "admissionregistration.k8s.io/v1";
const Configuration = builtIn<KubeObject>(ADMISSION, "ValidatingWebhookConfiguration");
const Service = builtIn<KubeObject>("v1", "Service");
const Secret = builtIn<KubeObject & { data?: Record<string, string> }>("v1", "Secret");
const Crd = builtIn<KubeObject>("apiextensions.k8s.io/v1", "CustomResourceDefinition");
const EndpointSlice = builtIn<KubeObject>("discovery.k8s.io/v1", "EndpointSlice");

/** A time on the monotonic clock in which calls of a replica may fail: from its death until its endpoint is gone. */
interface Death {
  readonly from: number;
  until: number;
}

interface Failure {
  readonly from: number;
  readonly until: number;
  readonly text: string;
}

/** Milliseconds in which an API server follows a change of its endpoints. */
const FOLLOWS = 1_000;

/** A server, two replicas, and users who write all the time. */
class World implements AsyncDisposable {
  readonly client: KubeClient;
  readonly failures: Failure[] = [];
  calls = 0;
  replicas: Candidate[] = [];
  readonly #started: Candidate[] = [];
  readonly #server: ApiServer;
  readonly #args: readonly string[];
  readonly #deaths: Death[] = [];
  readonly #end = new AbortController();
  #load: Promise<unknown> = Promise.resolve();

  private constructor(server: ApiServer, args: readonly string[]) {
    const { url, ca, adminToken } = server;
    this.#server = server;
    this.#args = args;
    this.client = new KubeClient({ transport: atUrl(url, { ca, token: () => adminToken }) });
  }

  /** @param args - the last ones of `webhook-replica.mjs` */
  static async start(
    args: readonly string[],
    failurePolicy: "Fail" | "Ignore" = "Fail",
  ): Promise<World> {
    const world = new World(await ApiServer.start(), args);
    try {
      await world.#prepare(failurePolicy);
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
    return world;
  }

  async #prepare(failurePolicy: "Fail" | "Ignore"): Promise<void> {
    const { client } = this;
    const { configuration, ...rest } = check;
    const hook = { ...rest, configuration: { ...configuration, failurePolicy } };
    const manifests = webhookManifests({ ...PLACE, hooks: [hook], converted: [] });
    await client.create(Service, manifests.get("webhook-service") as object);
    await client.create(Configuration, manifests.get("validating-webhooks") as object);
    await client.create(Crd, addressed(Tasks.crd, PLACE));
    this.replicas = await Promise.all([this.startReplica(), this.startReplica()]);
  }

  async startReplica(): Promise<Candidate> {
    const name = `replica-${this.#started.length + 1}`;
    const program = { program: "webhook-replica.mjs", args: this.#args };
    const replica = new Candidate(name, NAMESPACE, this.#server, program);
    this.#started.push(replica);
    const port = await replica.up;
    await this.client.create(EndpointSlice, {
      metadata: {
        ...{ name, namespace: NAMESPACE },
        labels: { "kubernetes.io/service-name": SERVICE },
      },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "", port, protocol: "TCP" }],
    } as object);
    return replica;
  }

  /** Kills the first replica after another one has come, and takes its endpoint away. */
  async kill(): Promise<void> {
    const [first, second] = this.replicas as [Candidate, Candidate];
    const third = await this.startReplica();
    const death = { from: realClock.monotonic(), until: Number.POSITIVE_INFINITY };
    this.#deaths.push(death);
    await first.kill();
    await realClock.sleep(FOLLOWS); // in a cluster its endpoint goes with its probe
    await this.client.delete(EndpointSlice, { name: first.identity, namespace: NAMESPACE });
    death.until = realClock.monotonic() + FOLLOWS;
    this.replicas = [second, third];
  }

  /** Failures but those of calls while a replica was dead and its endpoint there. */
  get unexplained(): Failure[] {
    const ofDead = /connection refused|connection reset|broken pipe|EOF/;
    const isOfDead = ({ from, until, text }: Failure): boolean =>
      ofDead.test(text) && this.#deaths.some((death) => death.from <= until && from <= death.until);
    return this.failures.filter((failure) => !isOfDead(failure));
  }

  /** Lets users write, each an object of its own, in a version. */
  load(versions: readonly ("v1" | "v2")[]): void {
    const writer = async (version: "v1" | "v2", index: number): Promise<void> => {
      const metadata = { name: `task-${index}`, namespace: NAMESPACE };
      const isFirst = version === "v1";
      for (let n = 0; !this.#end.signal.aborted; n++) {
        const from = realClock.monotonic();
        const spec = isFirst ? { at: `${n}` } : { minute: `${n}` };
        this.calls++;
        await this.client
          .apply(Tasks[version] as typeof Tasks.v1, { metadata, spec } as never, { retries: 0 })
          .catch((error: Error) => {
            this.failures.push({ from, until: realClock.monotonic(), text: error.message });
          });
      }
    };
    this.#load = Promise.all(versions.map(writer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#load;
    for (const replica of this.#started) await replica[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }
}

/** `AUTHORITIES=11 LEAVES=51` takes two and a half minutes on an idle machine. */
const { AUTHORITIES = "4", LEAVES = "9" } = process.env;

const SECOND = 1_000;
const TIMES = {
  authority: 18 * SECOND,
  leaf: 8 * SECOND,
  backdate: SECOND,
  settle: 3 * SECOND,
  period: 200,
};
type Times = typeof TIMES;

/** For a machine that is too busy to renew a leaf in the last seconds of its life. */
const SLOW: Times = { ...TIMES, authority: 54 * SECOND, leaf: 24 * SECOND, settle: 9 * SECOND };

/** The certificates that the replicas have had. */
class Rotations {
  readonly authorities: Set<string> = new Set();
  readonly leaves: Set<string> = new Set();
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  /** Reads the Secret. Returns the instant from which the authority is to be replaced. */
  async due(): Promise<number> {
    const ref = { name: `${SERVICE}-certificates`, namespace: NAMESPACE };
    const { data = {} } = await this.#client.get(Secret, ref);
    const text = (name: string) => Buffer.from(data[name] ?? "", "base64").toString();
    this.authorities.add(text("ca.crt"));
    this.leaves.add(text("tls.crt"));
    const { validFrom, validTo } = new X509Certificate(text("ca.crt"));
    const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
    return from + ((to - from) * 2) / 3;
  }

  /** Waits until an instant of the wall clock, with an eye on the Secret. */
  async until(instant: number): Promise<void> {
    while (realClock.now() < instant) {
      await this.due();
      await realClock.sleep(Math.min(200, Math.max(0, instant - realClock.now())));
    }
  }
}

/** Freezes a replica over the steps of a rotation: when the next authority comes, and when it begins to sign. */
async function freezeOverRotation(
  world: World,
  rotations: Rotations,
  { settle }: Times = TIMES,
): Promise<void> {
  const due = await rotations.due();
  for (const step of [due, due + settle]) {
    await rotations.until(step - 300);
    const [frozen] = world.replicas as [Candidate];
    frozen.freeze();
    await rotations.until(step + 700);
    frozen.thaw();
  }
}

/** Writes over many authorities and leaves, while replicas are frozen and killed. Resolves with the unexplained failures. */
async function failuresOver(times: Times): Promise<Failure[]> {
  await using world = await World.start([JSON.stringify(times), "true"]);
  const rotations = new Rotations(world.client);
  world.load(["v1", "v1", "v2"]);
  while (
    rotations.authorities.size < Number(AUTHORITIES) ||
    rotations.leaves.size < Number(LEAVES)
  ) {
    await freezeOverRotation(world, rotations, times);
    await world.kill();
    await rotations.until((await rotations.due()) - SECOND);
  }
  const { unexplained, calls, failures } = world;
  const { authorities, leaves } = rotations;
  console.log(
    `${calls} writes over ${authorities.size} authorities and ${leaves.size} leaves; ${failures.length} failed, ${failures.length - unexplained.length} of the dead`,
  );
  await poll(() => world.calls > 500, { timeout: 120_000 });
  return unexplained;
}

const isOfExpired = ({ text }: Failure): boolean => text.includes("certificate has expired");

describe("two replicas that make their certificates", () => {
  ownServerTest(
    "lose no call over several authorities, with a handshake for each call, while replicas are frozen and killed",
    async () => {
      const unexplained = await failuresOver(TIMES);
      const isTooBusy = unexplained.length > 0 && unexplained.every(isOfExpired);
      expect(isTooBusy ? await failuresOver(SLOW) : unexplained).toEqual([]);
    },
    800_000,
  );

  ownServerTest("lose calls without the wait between two steps of a rotation", async () => {
    await using world = await World.start([JSON.stringify({ ...TIMES, settle: 0 }), "true"]);
    const rotations = new Rotations(world.client);
    world.load(["v1", "v1", "v2"]);
    const isUntrusted = ({ text }: Failure): boolean =>
      text.includes("x509: certificate signed by unknown authority");
    while (!world.failures.some(isUntrusted)) await freezeOverRotation(world, rotations);
  });
});

describe("a replica that is killed under load", () => {
  ownServerTest("costs no call with failurePolicy Ignore", async () => {
    await using world = await World.start(["null"], "Ignore");
    world.load(["v1", "v1", "v1", "v1"]);
    for (let kills = 0; kills < 5; kills++) await world.kill();
    expect(world.failures).toEqual([]);
    expect(world.calls).toBeGreaterThan(500);
  });

  ownServerTest("costs no call with failurePolicy Fail once its endpoint is gone", async () => {
    await using world = await World.start(["null"]);
    world.load(["v1", "v1", "v2", "v2"]);
    for (let kills = 0; kills < 5; kills++) await world.kill();
    await poll(() => world.calls > 500, { timeout: 60_000 });
    console.log(`${world.calls} writes over 5 kills, ${world.failures.length} failed meanwhile`);
    expect(world.unexplained).toEqual([]);
    expect(world.failures.length).toBeGreaterThan(0);
  });
});
