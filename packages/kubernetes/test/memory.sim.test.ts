import { FakeClock } from "@holdfast/clock/testing";
import { silentLogger } from "@holdfast/controller";
import { Cluster, type KubeResponse, type KubeTransport } from "@holdfast/kubernetes";
import { expect, inject, it } from "vitest";
import { AbortCallbacks } from "../../../test/abort-callbacks.ts";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { heapUsed } from "../../../test/collect-garbage.ts";
import { greeting as cachedGreeting, event, list, storeOf } from "./cache/cache-kit.ts";
import { Greeting, greeting, World } from "./cluster/cluster-kit.ts";

const isThorough = inject("isThorough");
const OBJECTS = isThorough ? 1_000_000 : 10_000;
const RESTARTS = isThorough ? 1_000 : 40;
const SAMPLES = 5;
const CHUNK = 100;

/** Bytes by which the heap may differ: above its noise, below 64 bytes for each object of the smallest size. */
const NOISE = 500_000;

/** The growth of the heap from the first sample to the last one. */
function growth(samples: readonly number[]): number {
  expect(samples).toHaveLength(SAMPLES);
  return (samples.at(-1) ?? 0) - (samples[0] ?? 0);
}

/** The lines of a watch that creates and deletes objects, and samples the heap at intervals. */
async function* events(clock: FakeClock, samples: number[]): AsyncGenerator<Uint8Array, void> {
  let version = 1;
  for (let number = 0; number < OBJECTS; number += CHUNK) {
    if (number % (OBJECTS / SAMPLES) === 0 && number > 0)
      samples.push(await clock.external(heapUsed(), "heap"));
    const names = Array.from({ length: CHUNK }, (_, index) => `g${number + index}`);
    const lines = (type: string): string[] =>
      names.map((name) => {
        const metadata = { uid: name, resourceVersion: String(++version), creationTimestamp: "" };
        const { metadata: more, spec } = greeting(name, `text of ${name}`);
        return JSON.stringify({ type, object: { metadata: { ...metadata, ...more }, spec } });
      });
    yield Buffer.from(`${[...lines("ADDED"), ...lines("DELETED")].join("\n")}\n`);
  }
  samples.push(await clock.external(heapUsed(), "heap"));
}

/** A server with an empty list, and one watch. */
function scripted(watch: AsyncIterable<Uint8Array>): KubeTransport {
  const body = async function* () {
    yield Buffer.from(JSON.stringify({ metadata: { resourceVersion: "1" }, items: [] }));
  };
  return {
    description: "script",
    async send({ path }): Promise<KubeResponse> {
      const isWatch = path.includes("watch=true");
      return { status: 200, headers: {}, body: isWatch ? watch : body() };
    },
  };
}

it(`an informer keeps nothing of ${OBJECTS} objects that were created and deleted`, {
  timeout: 600_000,
}, async () => {
  const samples: number[] = [];
  const stop = new AbortController();
  const clock = new FakeClock();
  const transport = scripted(events(clock, samples));
  const cluster = new Cluster({ transport, clock, logger: silentLogger });
  const indexes = { text: ({ spec }: { spec?: { text: string } }) => [spec?.text ?? ""] };
  const informer = cluster.watch(Greeting, { indexes });
  const counts = { added: 0, updated: 0, deleted: 0 };
  const enqueue = ({ type }: { type: keyof typeof counts }): void => {
    counts[type]++;
    if (counts.deleted === OBJECTS) clock.afterFunc(1, () => stop.abort());
  };
  const failed = (error: unknown): never => expect.fail(String(error));
  informer.changes().start({ enqueue, failed, clock }, stop.signal);
  await clock.run(() => cluster.run(stop.signal));
  expect({ ...counts, size: informer.size }).toEqual({
    added: OBJECTS,
    updated: 0,
    deleted: OBJECTS,
    size: 0,
  });
  expect(growth(samples)).toBeLessThan(NOISE);
});

it(`a store keeps nothing of ${OBJECTS} own writes and deletions that the watch has shown`, {
  timeout: 600_000,
}, async () => {
  const samples: number[] = [];
  const store = storeOf();
  list(store, 1);
  let version = 1;
  for (let number = 1; number <= OBJECTS; number++) {
    const object = cachedGreeting(`g${number}`, ++version, { uid: `u${number}` });
    store.write({ type: "stored", object });
    event(store, "ADDED", object);
    const { name, namespace, uid } = object.metadata;
    store.write({ type: "gone", name: { name, namespace }, uid });
    event(store, "DELETED", cachedGreeting(name, ++version, { uid }));
    store.told.length = 0;
    if (number % (OBJECTS / SAMPLES) === 0) samples.push(await heapUsed());
  }
  expect([store.table.objects.size, store.pendingWrites]).toEqual([0, 0]);
  expect(growth(samples)).toBeLessThan(NOISE);
});

it(`${RESTARTS} runs of a cluster leave no listener and no timer`, {
  timeout: 600_000,
}, async () => {
  using callbacks = new AbortCallbacks();
  const { clock, cluster, others } = new World();
  const informer = cluster.watch(Greeting);
  const process = new AbortController();
  await clock.run(async () => {
    for (let run = 1; run <= RESTARTS; run++) {
      const stop = new AbortController();
      const running = cluster.run(stop.signal);
      await cluster.ready(process.signal);
      await others.create(Greeting, greeting(`g${run}`, "a"));
      await cluster.catchUp(process.signal);
      expect(informer.size).toBe(run);
      stop.abort();
      await running;
      const listeners = [abortListeners(stop.signal), abortListeners(process.signal)];
      expect([clock.waiters(), ...listeners, callbacks.count]).toEqual([0, 0, 0, 0]);
    }
  });
});

it(`${RESTARTS} restarts of a server leave as many listeners and timers as one`, {
  timeout: 600_000,
}, async () => {
  using callbacks = new AbortCallbacks();
  const { clock, api, cluster, stop, others } = new World();
  const informer = cluster.watch(Greeting);
  await clock.run(async () => {
    const running = cluster.run(stop.signal);
    await cluster.ready(stop.signal);
    const seen = new Set<string>();
    for (let restart = 1; restart <= RESTARTS; restart++) {
      api.stop();
      await clock.sleep(1_000);
      await api.start({ history: restart % 2 === 0 ? "lost" : "kept" });
      await others.create(Greeting, greeting(`g${restart}`, "a"));
      await clock.sleep(60_000);
      expect(informer.size).toBe(restart);
      seen.add(
        `${clock.waiters()} timers, ${abortListeners(stop.signal)} listeners, ${callbacks.count} callbacks`,
      );
    }
    expect([...seen]).toHaveLength(1);
    stop.abort();
    await running;
  });
  expect([clock.waiters(), abortListeners(stop.signal), callbacks.count]).toEqual([0, 0, 0]);
});
