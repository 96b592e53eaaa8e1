import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import {
  Controller,
  fromIterable,
  LeaderElector,
  Manager,
  MemoryLock,
  silentLogger,
  TokenBucketLimiter,
  WorkQueue,
} from "@holdfast/controller";
import { equal, hiddenAbort, reasonOf } from "./expect.mjs";

/** @type {Record<string, () => unknown>} */
export const controllerChecks = {
  async "WorkQueue hands a key added twice out once, the highest priority first"() {
    const queue = new WorkQueue();
    const got = [queue.get(), queue.get()];
    queue.add("low", { priority: -1 });
    queue.add("a");
    queue.add("a");
    const items = await Promise.all(got);
    equal([items.map((work) => work?.key), queue.size], [["a", "low"], 0]);
    for (const work of items) work?.done();
    queue.add("later", { after: 5 });
    equal((await queue.get())?.key, "later");
  },

  async "queue.idle resolves when nothing is queued, delayed or in flight"() {
    const queue = new WorkQueue();
    queue.add("a");
    queue.add("b", { after: 5 });
    const done = [];
    const idle = queue.idle().then(() => done.push("idle"));
    const worker = (async () => {
      for (const _ of ["a", "b"]) {
        const work = await queue.get();
        done.push(work?.key);
        work?.done();
      }
    })();
    await Promise.all([worker, idle]);
    equal(done, ["a", "b", "idle"]);
    equal((await queue.drain()).finished, true);
  },

  async "TokenBucketLimiter.acquire waits for a token, and an abort gives it back"() {
    const limiter = new TokenBucketLimiter({ qps: 50, burst: 1 });
    const start = realClock.monotonic();
    await limiter.acquire();
    const stop = new AbortController();
    const stopped = reasonOf(limiter.acquire(stop.signal));
    stop.abort("enough");
    equal(await stopped, "enough");
    await limiter.acquire();
    equal(realClock.monotonic() - start > 19.9, true);
  },

  async "Controller retries a failed key, and drains at a stop"() {
    const stop = new AbortController();
    const runs = [];
    const controller = new Controller({
      name: "orders",
      logger: silentLogger,
      sources: [
        fromIterable("feed", async function* () {
          yield "a";
        }),
      ],
      reconcile({ key, attempt }) {
        runs.push(`${key}${attempt}`);
        if (attempt < 3) throw new Error("busy");
        stop.abort("done");
        return { requeueAfter: 60_000 };
      },
    });
    await controller.run(stop.signal);
    const { state, drain } = controller.status();
    equal([runs, state, drain?.finished], [["a1", "a2", "a3"], "stopped", true]);
  },

  async "a busy Controller lets the event loop turn"() {
    const stop = new AbortController();
    let runs = 0;
    const controller = new Controller({
      name: "busy",
      reconcile({ key }) {
        runs++;
        controller.add(key); // there is always another key
      },
    });
    const running = controller.run(stop.signal);
    controller.add("again");
    await realClock.sleep(1);
    stop.abort();
    await running;
    equal(runs > 0, true);
  },

  async "a controller, its queue and its metrics tell each event"() {
    const clock = new FakeClock();
    const stop = new AbortController();
    const events = [];
    const tell = (name) => (value) => events.push(value === undefined ? name : `${name} ${value}`);
    const controller = new Controller({
      name: "orders",
      clock,
      logger: silentLogger,
      queueMetrics: {
        depth: (change) => events.push(`depth ${change}`),
        added: tell("added"),
        started: tell("started"),
        finished: tell("finished"),
        retried: tell("retried"),
        watch: () => {},
        ended: () => {},
      },
      metrics: {
        reconciled: tell("reconciled"),
        activeWorkers: tell("active"),
        maxWorkers: tell("workers"),
      },
      async reconcile() {
        await clock.sleep(7);
      },
    });
    const running = controller.run(stop.signal);
    controller.add("a");
    await clock.step(10);
    stop.abort();
    await running;
    equal(events, [
      "workers 1",
      "added",
      "depth 1",
      "depth -1",
      "started 0",
      "active 1",
      "finished 7",
      "reconciled success",
      "active -1",
    ]);
  },

  async "LeaderElector leads, hands over, and stops at a hidden abort"() {
    const lock = new MemoryLock();
    const events = [];
    const stops = [new AbortController(), new AbortController()];
    const times = { leaseDuration: 200, renewDeadline: 150, retryPeriod: 10 };
    const runs = stops.map((stop, index) =>
      new LeaderElector({
        lock,
        identity: `elector ${index}`,
        ...times,
        async lead({ token, signal }) {
          events.push(token);
          stop.abort("next");
          await realClock.sleep(60_000, { signal });
        },
      }).run(stop.signal),
    );
    await Promise.all(runs);
    equal(events, [0, 1]);

    const hidden = hiddenAbort();
    const follower = new LeaderElector({ lock, identity: "late", ...times, lead: () => {} });
    const running = follower.run(hidden.signal);
    hidden.abort("hidden");
    await running;
    equal(follower.status().state, "idle");
  },

  async "Manager starts its runnables and stops them at an abort"() {
    const stop = new AbortController();
    const events = [];
    const manager = new Manager({ logger: silentLogger });
    manager.add({
      name: "runnable",
      async run(signal) {
        events.push("started");
        await realClock.sleep(60_000, { signal }).catch((reason) => events.push(reason));
      },
    });
    const running = manager.run(stop.signal);
    await realClock.sleep(5);
    stop.abort("bye");
    await running;
    equal([events, manager.status().state], [["started", "bye"], "stopped"]);
  },
};
