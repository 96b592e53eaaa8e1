import { createHmac } from "node:crypto";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  ExponentialLimiter,
  LeaderElector,
  MemoryLock,
  silentLogger,
  TokenBucketLimiter,
  WorkQueue,
} from "@holdfast/controller";
import { builtIn, Cluster, type KubeObject, type KubeTransport } from "@holdfast/kubernetes";
import { MemoryOutbox } from "@holdfast/outbox/testing";
import { WebhookVerifier } from "@holdfast/outbox/webhook";
import { every, expectOk, poll, retry, withTimeout } from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { Deadline } from "@holdfast/wait/limit";
import { Cron } from "croner";
import { describe, expect, it } from "vitest";
import { schedule } from "../src/recipes/scheduled-job.ts";

// The wall clock steps by five hours, half a second after the start. A suspension is a step forward: the monotonic clock and
// the timers stand still meanwhile. `docs/running-in-production.md` has the table of the results.

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const STEP = 5 * HOUR;

interface World {
  readonly clock: FakeClock;
  readonly signal: AbortSignal;
  /** Notes the monotonic instant, in seconds. */
  readonly seen: () => void;
}

/** The instants of a wait, in seconds of the monotonic clock, in a time of `long` milliseconds. */
async function instantsOf(
  run: (world: World) => unknown,
  step: number,
  long: number,
): Promise<readonly number[]> {
  const clock = new FakeClock({ now: Date.UTC(2026, 5, 1, 12) });
  const start = clock.monotonic();
  const instants: number[] = [];
  const stop = new AbortController();
  const seen = () => void instants.push((clock.monotonic() - start) / SECOND);
  const running = Promise.resolve(run({ clock, signal: stop.signal, seen })).catch(
    (error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    },
  );
  await clock.step(500);
  clock.setSystemTime(clock.now() + step);
  await clock.step(long - 500);
  stop.abort(new Error("over"));
  await clock.run(() => running);
  expect(clock.waiters()).toBe(0);
  return instants;
}

/** A row: the instants without a step, and those with one forward or back if they are others. */
interface Row {
  readonly run: (world: World) => unknown;
  readonly steady: readonly number[];
  readonly forward?: readonly number[];
  readonly back?: readonly number[];
  /** Milliseconds that it is watched for; by default a minute. */
  readonly long?: number;
}

const Pod = builtIn<KubeObject>("v1", "Pod");
const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString("base64")}`;

/** An API server without objects, whose watches send nothing. */
function silentWatches({ clock, seen }: Pick<World, "clock" | "seen">): KubeTransport {
  const list = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items: [] };
  const silence = (signal: AbortSignal): AsyncIterable<Uint8Array> => ({
    [Symbol.asyncIterator]: () => ({
      next: () => clock.sleep(Number.POSITIVE_INFINITY, { signal }) as Promise<never>,
    }),
  });
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from(JSON.stringify(list));
  };
  return {
    description: "a silent server",
    send: async ({ path }, signal) => {
      const isWatch = path.includes("watch=");
      if (isWatch) seen();
      const headers = { "content-type": "application/json" };
      return { status: 200, headers, body: isWatch ? silence(signal) : whole() };
    },
  };
}

/** The response of a server with a clock of its own, which is right. */
function busy({ clock }: World, start: number, hasDate: boolean): Response {
  const now = start + clock.monotonic();
  const after = { "Retry-After": new Date(now + 20 * SECOND).toUTCString() };
  return new Response("", {
    status: 503,
    headers: { ...after, ...(hasDate && { Date: new Date(now).toUTCString() }) },
  });
}

/** Two calls: the first one is answered after the step, with a date 20 s later. */
function retryAfterDate(hasDate: boolean): (world: World) => unknown {
  return async (world) => {
    const { clock, signal, seen } = world;
    const start = clock.now() - clock.monotonic();
    let calls = 0;
    await retry(
      async () => {
        seen();
        if (calls++ > 0) return;
        await clock.sleep(SECOND);
        await expectOk(busy(world, start, hasDate), { clock });
      },
      { backoff: { duration: 3 * SECOND, jitter: 0 }, signal, clock },
    );
  };
}

/** An outbox that sends a message. */
function outbox(message: (now: number) => object, delivers = 0): (world: World) => unknown {
  return async ({ clock, signal, seen }) => {
    const publisher = {
      publish: async () => {
        seen();
        await clock.sleep(delivers);
      },
    };
    const box = new MemoryOutbox({ name: "shop", publisher, clock, logger: silentLogger });
    const running = box.run(signal);
    await box.transaction((tx) =>
      box.save(tx, { topic: "t", key: "k", payload: {}, ...message(clock.now()) }),
    );
    await running;
  };
}

const rows: Record<string, Row> = {
  "clock.sleep": {
    run: async ({ clock, signal, seen }) => {
      await clock.sleep(10 * SECOND, { signal });
      seen();
    },
    steady: [10],
  },
  "clock.sleepUntil": {
    run: async ({ clock, signal, seen }) => {
      await clock.sleepUntil(clock.monotonic() + 10 * SECOND, { signal });
      seen();
    },
    steady: [10],
  },
  "clock.timeout": {
    run: async ({ clock, seen }) => {
      const signal = clock.timeout(10 * SECOND);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      seen();
    },
    steady: [10],
  },
  poll: {
    run: ({ clock, signal, seen }) =>
      poll(() => void seen(), { interval: 20 * SECOND, signal, clock }),
    steady: [0, 20, 40, 60],
  },
  every: {
    run: async ({ clock, signal, seen }) => {
      for await (const _ of every(20 * SECOND, { signal, clock })) seen();
    },
    steady: [20, 40, 60],
  },
  "retry, its delays": {
    run: ({ clock, signal, seen }) =>
      retry(
        () => {
          seen();
          throw new Error("refused");
        },
        { backoff: { duration: 10 * SECOND, factor: 2, jitter: 0 }, signal, clock },
      ),
    steady: [0, 10, 30],
  },
  "retry, maxElapsed": {
    run: ({ clock, signal, seen }) =>
      retry(
        () => {
          throw new Error("refused");
        },
        { backoff: { duration: 10 * SECOND, jitter: 0 }, maxElapsed: 25 * SECOND, signal, clock },
      ).catch(seen),
    steady: [20],
  },
  "retry, after a Retry-After in seconds": {
    run: async ({ clock, signal, seen }) => {
      const answers = [new Response("", { status: 503, headers: { "Retry-After": "20" } })];
      await retry(
        async () => {
          seen();
          await clock.sleep(SECOND);
          return await expectOk(answers.pop() ?? new Response(), { clock });
        },
        { signal, clock },
      );
    },
    steady: [0, 21],
  },
  "retry, after a Retry-After with a date": { run: retryAfterDate(true), steady: [0, 21] },
  "the same, from a server that sends no Date": {
    run: retryAfterDate(false),
    steady: [0, 21],
    forward: [0, 4], // the backoff
    back: [0, 901], // maxRetryAfter
    long: HOUR,
  },
  withTimeout: {
    run: ({ clock, seen }) =>
      withTimeout((own) => clock.sleep(HOUR, { signal: own }), 10 * SECOND, { clock }).catch(seen),
    steady: [10],
  },
  Deadline: {
    run: async ({ clock, seen }) => {
      using deadline = new Deadline(10 * SECOND, { clock });
      await clock.sleep(HOUR, { signal: deadline.signal }).catch(seen);
    },
    steady: [10],
  },
  keepConnected: {
    run: ({ clock, signal, seen }) =>
      keepConnected(
        () => {
          seen();
          throw new Error("refused");
        },
        () => clock.sleep(0),
        { signal, clock, random: () => 0.5, backoff: { duration: 10 * SECOND, factor: 2 } },
      ),
    steady: [0, 10, 30],
  },
  TokenBucketLimiter: {
    run: async ({ clock, signal, seen }) => {
      const limiter = new TokenBucketLimiter({ qps: 0.05, burst: 1, clock });
      for (;;) {
        await limiter.acquire(signal);
        seen();
      }
    },
    steady: [0, 20, 40, 60],
  },
  "WorkQueue, a delay": {
    run: async ({ clock, signal, seen }) => {
      const queue = new WorkQueue({ clock });
      queue.add("key", { after: 10 * SECOND });
      await queue.get(signal);
      seen();
    },
    steady: [10],
  },
  "Controller, requeueAfter": {
    run: async ({ clock, signal, seen }) => {
      const reconcile = async () => {
        seen();
        return { requeueAfter: 20 * SECOND };
      };
      const controller = new Controller({ name: "c", reconcile, clock, logger: silentLogger });
      controller.add("key");
      await controller.run(signal);
    },
    steady: [0, 20, 40, 60],
  },
  "Controller, a key that fails": {
    run: async ({ clock, signal, seen }) => {
      const reconcile = async () => {
        seen();
        throw new Error("refused");
      };
      const limiter = new ExponentialLimiter({ duration: 10 * SECOND, cap: HOUR, clock });
      const controller = new Controller({
        ...{ name: "c", reconcile, limiter, clock, logger: silentLogger },
      });
      controller.add("key");
      await controller.run(signal);
    },
    steady: [0, 10, 30],
  },
  "an informer, a watch without a byte": {
    run: async ({ clock, signal, seen }) => {
      const cluster = new Cluster({
        transport: silentWatches({ clock, seen }),
        ...{ clock, random: () => 0, logger: silentLogger },
      });
      cluster.watch(Pod);
      await cluster.run(signal);
    },
    steady: [0, 90, 180],
    long: 200 * SECOND,
  },
  "LeaderElector, losses of the term": {
    run: async ({ clock, signal, seen }) => {
      const lead = async ({ signal: own, lost }: { signal: AbortSignal; lost: AbortSignal }) => {
        await clock.sleep(Number.POSITIVE_INFINITY, { signal: own }).catch(() => undefined);
        if (lost.aborted) seen();
      };
      const lock = new MemoryLock();
      const elector = new LeaderElector({
        ...{ lock, identity: "a", lead, clock, random: () => 0, logger: silentLogger },
      });
      await elector.run(signal);
    },
    steady: [],
    forward: [2], // the next renewal
  },
  "outbox, a delay": {
    run: outbox(() => ({ delay: HOUR })),
    steady: [3_600],
    forward: [5], // the next look, after pollInterval
    back: [6 * 3_600],
    long: 8 * HOUR,
  },
  "outbox, dueAt": {
    run: outbox((now) => ({ dueAt: now + HOUR })),
    steady: [3_600],
    forward: [5], // the next look, after pollInterval
    back: [6 * 3_600],
    long: 8 * HOUR,
  },
  "outbox, a message that is being sent": { run: outbox(() => ({}), 5 * SECOND), steady: [0] },
  "a scheduled job, at 13:00": {
    run: async ({ clock, signal, seen }) => {
      const times = [new Cron("0 13 * * *", { timezone: "UTC" })];
      const runs = { last: async () => undefined, save: async () => undefined };
      await schedule({ name: "j", times, run: async () => seen() }, runs, signal, clock);
    },
    steady: [3_600],
    forward: [60],
    back: [6 * 3_600],
    long: 8 * HOUR,
  },
  "WebhookVerifier, a request signed by a right clock": {
    run: async ({ clock, signal, seen }) => {
      const verifier = new WebhookVerifier({ secrets: SECRET, clock });
      const seconds = `${clock.now() / SECOND}`;
      const signature = createHmac("sha256", KEY).update(`1.${seconds}.{}`).digest("base64");
      const headers = {
        ...{ "webhook-id": "1", "webhook-timestamp": seconds },
        "webhook-signature": `v1,${signature}`,
      };
      await clock.sleep(SECOND, { signal });
      try {
        verifier.verify("{}", headers);
      } catch (error) {
        expect(error).toMatchObject({ code: "ERR_OUTBOX_UNVERIFIED" });
        return;
      }
      seen();
    },
    steady: [1],
    forward: [],
    back: [],
  },
};

describe("a step of the wall clock", () => {
  describe.each(Object.entries(rows))(
    "%s",
    (_, { run, steady, forward, back, long = 60 * SECOND }) => {
      it.each([
        ["none", 0, steady],
        ["forward", STEP, forward ?? steady],
        ["back", -STEP, back ?? steady],
      ] as const)("%s", async (_name, step, expected) => {
        expect(await instantsOf(run, step, long)).toEqual(expected);
      });
    },
  );
});
