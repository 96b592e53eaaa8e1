import { FakeClock } from "@holdfast/clock/testing";
import { Controller, type QueueMetrics, silentLogger } from "@holdfast/controller";
import { describe, expect, it, vi } from "vitest";

const METHODS = ["depth", "added", "started", "finished", "retried", "watch", "ended"] as const;

describe("queueMetrics that throw", () => {
  it.each(METHODS)("in %s end neither a worker nor the stop", async (broken) => {
    const clock = new FakeClock();
    const logged: unknown[] = [];
    const boom = (): never => {
      throw new Error("disk full");
    };
    const ignore = Object.fromEntries(METHODS.map((name) => [name, () => {}]));
    const queueMetrics = { ...ignore, [broken]: boom } as unknown as QueueMetrics;
    const runs: string[] = [];
    const controller = new Controller({
      name: "orders",
      clock,
      queueMetrics,
      logger: { ...silentLogger, error: (details) => logged.push(details) },
      reconcile({ key, attempt }) {
        runs.push(key);
        if (key === "b" && attempt === 1) throw new Error("once");
      },
    });
    const stop = new AbortController();
    await clock.run(async () => {
      const running = controller.run(stop.signal);
      for (const key of ["a", "b", "c"]) controller.add(key);
      await clock.sleep(10_000);
      stop.abort();
      await running;
    });
    expect(runs.sort()).toEqual(["a", "b", "b", "c"]);
    expect(logged).toContainEqual(expect.objectContaining({ hook: "queueMetrics" }));
    expect(clock.waiters()).toBe(0);
  });
});

it("a queue serves waiting calls of get while a test runner fakes queueMicrotask", async () => {
  const clock = new FakeClock();
  const runs: string[] = [];
  const reconcile = ({ key }: { key: string }): void => void runs.push(key);
  const controller = new Controller({ name: "orders", clock, reconcile });
  const stop = new AbortController();
  const running = controller.run(stop.signal);
  vi.useFakeTimers({ toFake: ["queueMicrotask"] });
  try {
    controller.add("a");
    for (let microtasks = 0; microtasks < 100; microtasks++) await undefined;
    expect(runs).toEqual(["a"]);
  } finally {
    vi.useRealTimers();
  }
  stop.abort();
  await running;
});
