import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { cpuOfServer } from "../../machine.mjs";
import { COUNT, NAMESPACE, WAIT } from "./objects.mjs";

const REPLICA = fileURLToPath(new URL("replica.mjs", import.meta.url));

/** A sample: processes that have settled reconcile all objects once, with one worker each. */
function replicas(mode, processes) {
  return async (count) => {
    const { client, ConfigMap, Lease } = await connect();
    await prepare(client, ConfigMap, count);
    const name = `bench-${randomUUID().slice(0, 8)}`;
    const started = Array.from({ length: processes }, () => new Replica(name, mode));
    await settled(client, Lease, { name, mode, processes });
    return async () => {
      const before = await Promise.all(started.map((each) => each.told()));
      const serverBefore = cpuOfServer();
      const from = Number(process.hrtime.bigint()) / 1e6;
      for (const each of started) each.child.send("work");
      const after = () => started.map(({ last }) => last);
      while (sum(after(), "done") < count) await sleep(50);
      const seconds = (Math.max(...after().map(({ lastAt }) => lastAt)) - from) / 1_000;
      const server = cpuOfServer() - serverBefore;
      const told = await Promise.all(started.map((each) => each.told()));
      const spans = told.map(({ at }, i) => (at - before[i].at) / 1_000);
      const average = (figure) =>
        told.reduce(
          (all, { [figure]: value }, i) => all + (value - before[i][figure]) / spans[i],
          0,
        );
      const share = Math.max(...told.map(({ done }) => done)) / (count / processes);
      return {
        "reconciles/s, wall": count / seconds,
        "workers waiting %": (100 * count * WAIT) / 1_000 / seconds / processes,
        "largest share": share,
        "CPU of a process %": average("cpu") / 10 / processes,
        "CPU of the server %": server / 10 / seconds,
        "requests/s of all": average("requests"),
      };
    };
  };
}

const sum = (facts, figure) => facts.reduce((all, { [figure]: value }) => all + value, 0);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A process, and what it has told last. */
class Replica {
  last = { done: 0, lastAt: 0 };
  constructor(name, mode) {
    this.child = fork(REPLICA, [name, mode], { execArgv: [] });
    this.child.on("message", (facts) => {
      this.last = facts;
    });
    this.child.on("exit", (code) => {
      throw new Error(`a replica ended with code ${code}`);
    });
    process.on("exit", () => this.child.kill("SIGKILL"));
  }

  async told() {
    this.child.send("tell");
    await once(this.child, "message");
    return this.last;
  }
}

async function connect() {
  const { atUrl, builtIn, KubeClient } = await import("@holdfast/kubernetes");
  const { API_URL, API_CA, API_TOKEN } = process.env;
  const transport = atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN });
  const client = new KubeClient({ transport });
  const Lease = builtIn("coordination.k8s.io/v1", "Lease");
  return { client, ConfigMap: builtIn("v1", "ConfigMap"), Lease };
}

/** Makes the objects. Nothing of this is measured. */
async function prepare(client, ConfigMap, count) {
  const there = new Set();
  for await (const { metadata } of client.list(ConfigMap, { namespace: NAMESPACE }))
    there.add(metadata.name);
  const names = Array.from({ length: count }, (_, i) => `object-${i}`);
  const missing = names.filter((name) => !there.has(name))[Symbol.iterator]();
  const create = async () => {
    for (const name of missing)
      await client.create(ConfigMap, { metadata: { namespace: NAMESPACE, name } });
  };
  await Promise.all(Array.from({ length: 16 }, create));
}

/** Waits until the leases are shared evenly, and the caches of all replicas are ready. */
async function settled(client, Lease, { name, mode, processes }) {
  const wanted = mode === "leader" ? [name] : slots(name);
  const each = wanted.length / processes;
  for (;;) {
    const held = new Map();
    for await (const { metadata, spec } of client.list(Lease, { namespace: NAMESPACE }))
      if (wanted.includes(metadata.name) && spec.holderIdentity)
        held.set(spec.holderIdentity, (held.get(spec.holderIdentity) ?? 0) + 1);
    if (held.size === processes && [...held.values()].every((slotsOf) => slotsOf === each)) break;
    await sleep(250);
  }
  await sleep(4_000);
}

const slots = (name) => Array.from({ length: COUNT }, (_, i) => `${name}-slot-${i}`);

export const replicated = {
  id: "m",
  title: `replicas of an operator whose reconcile waits ${WAIT} ms, on a real API server`,
  cases: [
    {
      id: "shards",
      title: `one leader, and ${COUNT} slots on 1, 2 and 4 processes; one worker each`,
      sizes: [2_000],
      quickSizes: [48],
      samples: 1,
      milliseconds: 0,
      rounds: 3,
      unit: "objects",
      needs: () => "Kubernetes API server",
      contenders: {
        "one leader": replicas("leader", 1),
        "slots, 1 process": replicas("shards", 1),
        "slots, 2 processes": replicas("shards", 2),
        "slots, 4 processes": replicas("shards", 4),
      },
    },
  ],
};
