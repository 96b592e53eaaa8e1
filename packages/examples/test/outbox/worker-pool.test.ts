import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import type { Report } from "../../src/outbox/worker/report.ts";
import type { Exit, Worker } from "../../src/outbox/worker/worker.ts";
import { type Departure, WorkerPool } from "../../src/outbox/worker-pool.ts";

/** A worker without a process, that ends when the test says so. */
class FakeWorker {
  readonly name: string;
  readonly pid = 1;
  readonly exited: Promise<Exit>;
  readonly placed: number[] = [];
  isKilled = false;
  isAsked = false;
  exit!: (exit: Exit) => void;
  readonly tell: (report: Report) => void;

  constructor(name: string, tell: (report: Report) => void) {
    this.name = name;
    this.tell = tell;
    this.exited = new Promise((resolve) => {
      this.exit = resolve;
    });
  }

  place(order: number): void {
    this.placed.push(order);
  }

  kill(): void {
    this.isKilled = true;
    this.exit({ code: null, signal: "SIGKILL" });
  }

  stop(): void {
    this.isAsked = true;
  }
}

function world(size = 1) {
  const clock = new FakeClock();
  const workers: FakeWorker[] = [];
  const gone: [string, Departure][] = [];
  const pool = new WorkerPool({
    size,
    clock,
    onReport: () => undefined,
    optionsOf: (number) => ({
      name: `w${number}`,
      database: "pglite",
      databaseUrl: "d",
      target: "t",
    }),
    onExit: (departure, worker) => gone.push([worker, departure]),
    start: ({ name }, onReport) => {
      const worker = new FakeWorker(name, onReport);
      workers.push(worker);
      return worker as unknown as Worker;
    },
  });
  const stop = new AbortController();
  return { clock, pool, workers, gone, stop, running: pool.run(stop.signal) };
}

it.each<{ exit: Exit; departure: Departure }>([
  { exit: { code: null, signal: "SIGINT" }, departure: "stopped" },
  { exit: { code: 130, signal: null }, departure: "stopped" },
  { exit: { code: 0, signal: null }, departure: "stopped" },
  { exit: { code: null, signal: "SIGKILL" }, departure: "stopped" },
])("counts a worker that was asked to stop and ended with $exit as stopped", async (row) => {
  const { clock, workers, gone, stop, running } = world();
  stop.abort();
  expect(workers[0]?.isAsked).toBe(true);
  workers[0]?.exit(row.exit);
  await clock.run(() => running);
  expect(gone).toEqual([["w1", row.departure]]);
  expect(clock.pending()).toEqual([]);
});

it.each<{ exit: Exit; departure: Departure }>([
  { exit: { code: null, signal: "SIGKILL" }, departure: "killed" },
  { exit: { code: 1, signal: null }, departure: "failed" },
  { exit: { code: null, signal: "SIGSEGV" }, departure: "failed" },
  { exit: { code: 0, signal: null }, departure: "stopped" },
])("counts a worker that ended unasked with $exit as $departure", async (row) => {
  const { clock, workers, gone, stop, running } = world();
  workers[0]?.exit(row.exit);
  await clock.step(1_000);
  expect(gone).toEqual([["w1", row.departure]]);
  expect(workers.map(({ name }) => name)).toEqual(["w1", "w2"]);
  stop.abort();
  workers[1]?.exit({ code: 0, signal: null });
  await clock.run(() => running);
});

it("does not count workers as killed that took too long to stop", async () => {
  const { clock, gone, stop, running } = world();
  stop.abort();
  await clock.step(60_000);
  await running;
  expect(gone).toEqual([["w1", "stopped"]]);
});

it("kills the worker of a name once, and returns whether it existed", async () => {
  const { clock, pool, workers, gone, stop, running } = world(2);
  workers[1]?.tell({ type: "ready" });
  expect(pool.members.map(({ name, state }) => [name, state])).toEqual([
    ["w1", "starting"],
    ["w2", "working"],
  ]);
  expect([pool.kill("w2"), pool.kill("w2"), pool.kill("w9")]).toEqual([true, false, false]);
  expect(pool.members[1]?.state).toBe("killed");
  await clock.step(0);
  expect(gone).toEqual([["w2", "killed"]]);
  stop.abort();
  for (const worker of workers) worker.exit({ code: 0, signal: null });
  await clock.run(() => running);
});

it("gives the orders of a dead worker to the next", async () => {
  const { clock, pool, workers, stop, running } = world();
  pool.place([1, 2, 3]);
  workers[0]?.tell({ type: "ready" });
  workers[0]?.tell({ type: "placed", order: 2 });
  expect(pool.open).toBe(2);
  pool.kill("w1");
  await clock.step(1_000);
  workers[1]?.tell({ type: "ready" });
  expect(workers[1]?.placed).toEqual([1, 3]);
  stop.abort();
  workers[1]?.exit({ code: 0, signal: null });
  await clock.run(() => running);
});
