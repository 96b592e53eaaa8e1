import { FakeClock } from "@holdfast/clock/testing";
import {
  LeaderElector,
  LockConflictError,
  MemoryLock,
  type ResourceLock,
  silentLogger,
} from "@holdfast/controller";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn, KubeClient, type KubeTransport, LeaseLock } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";

/** A write that is carried out some milliseconds after it is sent, and what its caller gets and when. */
interface Loss {
  readonly carriedOutAt: number;
  readonly answer: "error" | "conflict" | "nothing";
  readonly answeredAt: number;
}

const LOSSES: [name: string, loss: Loss, leadsAt: number][] = [
  ["lost with an error", { carriedOutAt: 0, answer: "error", answeredAt: 0 }, 0],
  ["never sent", { carriedOutAt: 0, answer: "nothing", answeredAt: 0 }, 2_500],
  [
    "never sent, of writes that are late",
    { carriedOutAt: 3_000, answer: "nothing", answeredAt: 0 },
    3_750,
  ],
  // As of a proxy that sends a request again: the second time it conflicts with the first.
  ["a conflict with itself", { carriedOutAt: 0, answer: "conflict", answeredAt: 0 }, 3_200],
  [
    "an error before it is carried out",
    { carriedOutAt: 500, answer: "error", answeredAt: 0 },
    3_200,
  ],
  [
    "an error after it is carried out",
    { carriedOutAt: 2_600, answer: "error", answeredAt: 3_000 },
    3_000,
  ],
];

/** Carries a write out late, and answers it as told. */
async function lose(
  write: () => Promise<unknown>,
  { carriedOutAt, answer, answeredAt }: Loss,
  clock: FakeClock,
  signal: AbortSignal,
): Promise<"conflict"> {
  // The write goes on when its caller has given it up.
  const done = clock.sleep(carriedOutAt).then(write);
  if (carriedOutAt <= answeredAt) await done;
  done.catch(() => {});
  if (answer === "nothing")
    return await new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  await clock.sleep(answeredAt - Math.min(carriedOutAt, answeredAt), { signal });
  if (answer === "error") throw new Error("ECONNRESET");
  return answer;
}

const LOCKS: Record<string, (clock: FakeClock, loss: Loss) => () => ResourceLock> = {
  "a ResourceLock": (clock, loss) => {
    const lock = new MemoryLock();
    const { signal: never } = new AbortController();
    const lost = async (write: () => Promise<unknown>, signal: AbortSignal): Promise<never> => {
      await lose(write, loss, clock, signal);
      throw new LockConflictError("memory");
    };
    return () => ({
      description: "memory",
      get: (signal) => lock.get(signal),
      create: (record, signal) => lost(() => lock.create(record, never), signal),
      update: (record, version, signal) => lost(() => lock.update(record, version, never), signal),
    });
  },
  "a LeaseLock": (clock, loss) => {
    const api = new FakeApi({ clock, resources: [builtIn("coordination.k8s.io/v1", "Lease")] });
    const { signal: never } = new AbortController();
    const transport: KubeTransport = {
      description: "loses responses",
      send: async (request, signal) => {
        if (request.method === "GET") return await api.transport.send(request, signal);
        await lose(() => api.transport.send(request, never), loss, clock, signal);
        return { status: 409, headers: {}, body: chunks('{"reason":"Conflict"}') };
      },
    };
    const client = new KubeClient({ transport, clock });
    return () => new LeaseLock({ client, namespace: "default", name: "lease", clock });
  },
};

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

describe.each(Object.entries(LOCKS))("writes to %s that are carried out", (_, locks) => {
  it.each(LOSSES)("keep one leader although each response is %s", async (_name, loss, leadsAt) => {
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
    await clock.step(600_000);
    expect(terms).toEqual([["leads", "a", leadsAt]]);
    stop.abort();
    await clock.run(() => Promise.all(electors));
    await clock.step(loss.carriedOutAt); // the last write goes on
    expect(clock.waiters()).toBe(0);
  });
});
