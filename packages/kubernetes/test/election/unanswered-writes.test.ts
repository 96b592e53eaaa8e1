import { FakeClock } from "@holdfast/clock/testing";
import { LeaderElector, MemoryLock, type ResourceLock, silentLogger } from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, KubeClient, type KubeTransport, LeaseLock } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";

/** What becomes of the response to a write that was carried out. */
type Loss = "lost with an error" | "never sent";

function lose(loss: Loss, signal: AbortSignal): Promise<never> {
  if (loss === "lost with an error") return Promise.reject(new Error("ECONNRESET"));
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

const LOCKS: Record<string, (clock: FakeClock, loss: Loss) => () => ResourceLock> = {
  "a ResourceLock": (_, loss) => {
    const lock = new MemoryLock();
    return () => ({
      description: "memory",
      get: (signal) => lock.get(signal),
      create: (record, signal) => lock.create(record, signal).then(() => lose(loss, signal)),
      update: (record, version, signal) =>
        lock.update(record, version, signal).then(() => lose(loss, signal)),
    });
  },
  "a LeaseLock": (clock, loss) => {
    const api = new FakeApi({ clock, resources: [builtIn("coordination.k8s.io/v1", "Lease")] });
    const transport: KubeTransport = {
      description: "loses responses",
      send: async (request, signal) => {
        const response = await api.transport.send(request, signal);
        return request.method === "GET" || response.status >= 400
          ? response
          : await lose(loss, signal);
      },
    };
    const client = new KubeClient({ transport, clock });
    return () => new LeaseLock({ client, namespace: "default", name: "lease", clock });
  },
};

describe.each(Object.entries(LOCKS))("writes to %s that are carried out", (_, locks) => {
  it.each<Loss>(["lost with an error", "never sent"])(
    "keep one leader although each response is %s",
    async (loss) => {
      const clock = new FakeClock();
      const start = clock.monotonic();
      const make = locks(clock, loss);
      const stop = new AbortController();
      const terms: [string, string, number][] = [];
      const note = (event: string, identity: string) =>
        void terms.push([event, identity, clock.monotonic() - start]);
      const electors = ["a", "b"].map((identity) => {
        const lead = ({ signal }: { signal: AbortSignal }): Promise<void> => {
          note("leads", identity);
          return new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              note("ends", identity);
              resolve();
            });
          });
        };
        const options = { identity, lead, clock, logger: silentLogger, random: () => 0.5 };
        return new LeaderElector({ lock: make(), ...options }).run(stop.signal);
      });
      await clock.step(1_800_000);
      expect(terms).toEqual([["leads", "a", loss === "never sent" ? 2_500 : 0]]);
      stop.abort();
      await clock.run(() => Promise.all(electors));
      expect(clock.waiters()).toBe(0);
    },
  );
});
