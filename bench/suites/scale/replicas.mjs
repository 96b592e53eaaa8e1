// Replicas of an operator on the fake API server and the fake clock: how often each asks is exact, and costs nothing.
import { randomInts } from "../../measure.mjs";

const OBJECTS = 200;
/** How long is counted, and how long replicas settle before. */
export const SECONDS = 300;
const SETTLING = 120;
const WRITES_PER_SECOND = 10;

/** How an operator shares its work. */
export const kinds = {
  "one leader": { leaderElection: { namespace: "system", name: "scale" } },
  "16 slots": { shards: { namespace: "system", name: "scale", count: 16 } },
  "64 slots": { shards: { namespace: "system", name: "scale", count: 64 } },
};

/** What a replica asks, by its figure. */
function figureOf({ method, path }) {
  const isLease = path.startsWith("/apis/coordination.k8s.io/");
  if (method !== "GET") return isLease ? "lease writes/s" : "other writes/s";
  if (path.includes("watch=true")) return "watches/s";
  if (!isLease) return "lists/s";
  return path.split("?")[0].endsWith("/leases") ? "lease lists/s" : "lease reads/s";
}

/** A sample: so many replicas, whose objects change ten times a second. */
export function simulated(options) {
  return async (count) => {
    const { FakeClock } = await import("@holdfast/clock/testing");
    const { silentLogger } = await import("@holdfast/controller");
    const { builtIn, runOperator } = await import("@holdfast/kubernetes");
    // By its file: the bench needs it here alone, and has no dependency on it.
    const { FakeApi } = await import("../../../packages/fake-apiserver/dist/index.js");
    return async () => {
      const clock = new FakeClock();
      const drawn = randomInts(10_000, 2 ** 31);
      let draws = 0;
      const random = () => drawn[draws++ % drawn.length] / 2 ** 31;
      const ConfigMap = builtIn("v1", "ConfigMap");
      const resources = [ConfigMap, builtIn("coordination.k8s.io/v1", "Lease")];
      const api = new FakeApi({ clock, resources, keptRequests: 1 });
      const ref = (i) => ({ namespace: "default", name: `object-${i % OBJECTS}` });
      for (let i = 0; i < OBJECTS; i++) await api.client.create(ConfigMap, { metadata: ref(i) });
      const counts = { ...NOTHING };
      const transport = counting(api.transport, counts);
      const stop = new AbortController();
      const running = Array.from({ length: count }, (_, i) =>
        runOperator(
          {
            name: "scale",
            identity: `replica-${i}`,
            transport,
            clock,
            random,
            health: false,
            logger: silentLogger,
            ...options,
            setup({ cluster, controller }) {
              const objects = cluster.watch(ConfigMap);
              return () => [
                controller({ name: "scale", sources: [objects.source()], reconcile() {} }),
              ];
            },
          },
          stop.signal,
        ),
      );
      await clock.step(SETTLING * 1_000);
      Object.assign(counts, NOTHING);
      for (let i = 0; i < SECONDS * WRITES_PER_SECOND; i++) {
        await api.client.patch(ConfigMap, ref(i), { data: { number: `${i}` } });
        await clock.step(1_000 / WRITES_PER_SECOND);
      }
      const figures = Object.fromEntries(
        Object.entries(counts).map(([name, sum]) => [name, sum / SECONDS]),
      );
      stop.abort();
      await clock.step(60_000);
      await Promise.all(running);
      return figures;
    };
  };
}

const NOTHING = {
  "lease writes/s": 0,
  "lease lists/s": 0,
  "lease reads/s": 0,
  "lists/s": 0,
  "watches/s": 0,
  "watch events/s": 0,
};

/** A transport that counts requests, and the lines of watches. */
function counting(transport, counts) {
  return {
    ...transport,
    async send(request, signal) {
      const figure = figureOf(request);
      counts[figure] = (counts[figure] ?? 0) + 1;
      const response = await transport.send(request, signal);
      if (figure !== "watches/s") return response;
      return { ...response, body: lines(response.body, counts) };
    },
  };
}

async function* lines(body, counts) {
  for await (const chunk of body) {
    for (const byte of chunk) if (byte === 10) counts["watch events/s"]++;
    yield chunk;
  }
}
