import { FakeClock } from "@holdfast/clock/testing";
import {
  type QueueMetrics,
  type WorkInFlight,
  type WorkItem,
  WorkQueue,
} from "@holdfast/controller";
import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { ModelQueue } from "./model-queue.ts";

interface Item {
  readonly id: string;
  readonly version: number;
}

/** Adds up what it is told. */
class Sums implements QueueMetrics {
  readonly depths: Record<string, number> = {};
  adds = 0;
  started_ = 0;
  finished_ = 0;
  work!: WorkInFlight;

  ended(): void {}
  depth(change: number, priority: number): void {
    const depth = (this.depths[priority] ?? 0) + change;
    if (depth === 0) delete this.depths[priority];
    else this.depths[priority] = depth;
  }
  added(): void {
    this.adds++;
  }
  started(duration: number): void {
    expect(duration).toBeGreaterThanOrEqual(0);
    this.started_++;
  }
  finished(duration: number): void {
    expect(duration).toBeGreaterThanOrEqual(0);
    this.finished_++;
  }
  retried(): void {}
  watch(work: WorkInFlight): void {
    this.work = work;
  }
}

interface Getter {
  readonly stop: AbortController;
  end: unknown;
}

/** The queue under test, and who uses it. */
class Real {
  readonly clock = new FakeClock();
  readonly sums = new Sums();
  readonly queue: WorkQueue<Item>;
  readonly hasMetrics: boolean;
  readonly workItems: WorkItem<Item>[] = [];
  readonly spent: WorkItem<Item>[] = [];
  readonly getters: Getter[] = [];
  readonly drains: Getter[] = [];
  readonly idles: Getter[] = [];

  constructor(aging: number, hasMetrics: boolean) {
    this.hasMetrics = hasMetrics;
    const metrics = hasMetrics ? this.sums : undefined;
    const { clock } = this;
    this.queue = new WorkQueue<Item>({ keyOf: ({ id }) => id, aging, clock, metrics });
  }
}

interface ModelGetter {
  end: unknown;
}

class Model {
  readonly queue: ModelQueue;
  readonly workItems: string[] = [];
  readonly getters: ModelGetter[] = [];
  readonly drains: ModelGetter[] = [];
  readonly idles: ModelGetter[] = [];
  version = 0;

  constructor(aging: number) {
    this.queue = new ModelQueue(aging);
  }

  get isIdle(): boolean {
    return this.queue.size === 0 && this.queue.inFlight.size === 0;
  }

  /** What happens by itself once a command is over. */
  settle(): void {
    for (const getter of this.getters.filter(({ end }) => end === undefined)) {
      const taken = this.queue.take();
      if (taken !== undefined) {
        getter.end = seen(taken);
        this.workItems.push(taken.key);
      } else if (this.queue.isOver) getter.end = "over";
    }
    if (!this.isIdle) return;
    if (this.queue.isShutDown || this.queue.delayed.length === 0)
      for (const idle of this.idles) idle.end ??= "idle";
    if (!this.queue.isShutDown) return;
    for (const drain of this.drains) drain.end ??= [true, [], [], this.#delayed()];
  }

  #delayed(): unknown[] {
    const { now, delayed } = this.queue;
    return delayed
      .map((entry, index) => ({ ...entry, index }))
      .toSorted((a, b) => (a.due === b.due ? a.index - b.index : a.due - b.due))
      .map(({ key: id, item, due }) => [id, item, Math.max(0, due - now)]);
  }
}

const seen = ({ key, item, priority }: { key: string; item: number; priority: number }) => [
  key,
  item,
  priority,
];

const shown = (workItem: WorkItem<Item>) => [
  workItem.key,
  workItem.item.version,
  workItem.priority,
];

async function check(model: Model, { queue, clock, sums, ...real }: Real): Promise<void> {
  // A get that is served resolves some microtasks after it is.
  for (let i = 0; i < 10; i++) await undefined;
  model.settle();
  const { delayed, inFlight, isShutDown, size } = model.queue;
  const isArmed = !isShutDown && delayed.some(({ due }) => due < Number.POSITIVE_INFINITY);
  expect({
    size: queue.size,
    delayed: queue.delayed,
    inFlight: queue.inFlight,
    isShutDown: queue.isShutDown,
    timers: clock.waiters(),
    getters: real.getters.map(({ end }) => end),
    drains: real.drains.map(({ end }) => end),
    idles: real.idles.map(({ end }) => end),
    workItems: real.workItems.map(({ key }) => key),
  }).toEqual({
    size,
    delayed: delayed.length,
    inFlight: inFlight.size,
    isShutDown,
    timers: isArmed ? 1 : 0,
    getters: model.getters.map(({ end }) => end),
    drains: model.drains.map(({ end }) => end),
    idles: model.idles.map(({ end }) => end),
    workItems: model.workItems,
  });
  if (!real.hasMetrics) return;
  expect(sums.depths).toEqual(model.queue.depth);
  expect(sums.adds).toBe(model.queue.adds);
  expect(sums.started_ - sums.finished_).toBe(inFlight.size);
  expect(sums.work.unfinished).toBeGreaterThanOrEqual(sums.work.longestRunning);
}

type Command = fc.AsyncCommand<Model, Real>;

/** A command that can be run at any time. */
const command = (name: string, run: (model: Model, real: Real) => unknown): Command => ({
  check: () => true,
  async run(model, real) {
    await run(model, real);
    await check(model, real);
  },
  toString: () => name,
});

const key = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const after = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1, 2, 3, 5, 50, Number.POSITIVE_INFINITY) },
);
const priority = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(-100, -2, -1, 0.5, 1, 2, 100) },
);

const add = fc.record({ key, after, priority }).map(({ key: id, ...options }) =>
  command(`add(${JSON.stringify({ id, ...options })})`, (model, { queue }) => {
    const version = ++model.version;
    queue.add({ id, version }, options);
    model.queue.add(id, version, options.after, options.priority);
  }),
);

const burst = fc.array(fc.record({ key, priority }), { maxLength: 40 }).map((adds) =>
  command(`add each of ${JSON.stringify(adds)}`, (model, { queue }) => {
    for (const { key: id, priority: height } of adds) {
      const version = ++model.version;
      queue.add({ id, version }, { priority: height });
      model.queue.add(id, version, 0, height);
    }
  }),
);

const take = fc.constant(
  command("take()", (model, { queue, workItems }) => {
    const taken = model.queue.take();
    const workItem = queue.take();
    expect(workItem && shown(workItem)).toEqual(taken && seen(taken));
    if (taken === undefined || workItem === undefined) return;
    workItems.push(workItem);
    model.workItems.push(taken.key);
  }),
);

const get = fc.constant(
  command("get()", (model, { queue, getters, workItems }) => {
    const getter: Getter = { stop: new AbortController(), end: undefined };
    getters.push(getter);
    model.getters.push({ end: undefined });
    void queue.get(getter.stop.signal).then(
      (workItem) => {
        if (workItem !== undefined) workItems.push(workItem);
        getter.end = workItem === undefined ? "over" : shown(workItem);
      },
      (reason: unknown) => {
        getter.end = reason;
      },
    );
  }),
);

const abort = fc.nat().map((which) =>
  command(`abort getter ${which}`, (model, { getters }) => {
    const index = which % Math.max(getters.length, 1);
    const modelled = model.getters[index];
    if (modelled !== undefined) modelled.end ??= "stopped";
    getters[index]?.stop.abort("stopped");
  }),
);

const done = fc.nat().map((which) =>
  command(`done ${which}`, (model, { workItems, spent }) => {
    const index = which % Math.max(workItems.length, 1);
    const [ended] = model.workItems.splice(index, 1);
    for (const workItem of workItems.splice(index, 1)) {
      workItem.done();
      spent.push(workItem);
    }
    if (ended !== undefined) model.queue.done(ended);
  }),
);

const doneAgain = fc.constant(
  command("done again, of all that are", (_model, { spent }) => {
    for (const workItem of spent) workItem[Symbol.dispose]();
  }),
);

const cancel = key.map((id) =>
  command(`cancel(${id})`, (model, { queue }) => {
    expect(queue.cancel({ id, version: -1 })).toBe(model.queue.cancel(id));
  }),
);

const step = fc.constantFrom(0, 1, 2, 7, 100, 10_000).map((duration) =>
  command(`step(${duration})`, async (model, { clock }) => {
    const end = model.queue.now + duration;
    await clock.step(duration);
    for (let due = model.queue.nextDue(end); due !== undefined; due = model.queue.nextDue(end)) {
      model.queue.now = due;
      model.queue.comeDue();
      model.settle();
    }
    model.queue.now = end;
  }),
);

const shutDown = fc.constant(
  command("shutDown()", (model, { queue }) => {
    queue.shutDown();
    model.queue.isShutDown = true;
  }),
);

const drain = fc.constant(
  command("drain()", (model, { queue, drains }) => {
    const drained: Getter = { stop: new AbortController(), end: undefined };
    drains.push(drained);
    model.queue.isShutDown = true;
    model.drains.push({ end: undefined });
    void queue.drain().then((report) => {
      const delayed = report.delayed.map((entry) => [entry.key, entry.item.version, entry.after]);
      drained.end = [report.finished, report.running, report.queued, delayed];
    });
  }),
);

const idle = fc.constant(
  command("idle()", (model, { queue, idles }) => {
    const waiting: Getter = { stop: new AbortController(), end: undefined };
    idles.push(waiting);
    model.idles.push({ end: undefined });
    void queue.idle(waiting.stop.signal).then(
      () => {
        waiting.end = "idle";
      },
      (reason: unknown) => {
        waiting.end = reason;
      },
    );
  }),
);

const abortIdle = fc.nat().map((which) =>
  command(`abort idle ${which}`, (model, { idles }) => {
    const index = which % Math.max(idles.length, 1);
    const modelled = model.idles[index];
    if (modelled !== undefined) modelled.end ??= "stopped";
    idles[index]?.stop.abort("stopped");
  }),
);

const commands = fc.commands(
  [
    ...[add, add, burst, take, take, get, get, done, done, done, step, step, cancel, abort],
    doneAgain,
    ...[idle, abortIdle],
    ...[shutDown, drain],
  ],
  { maxCommands: 120, size: "max" },
);

it("behaves like its model", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 10, Number.POSITIVE_INFINITY),
      fc.boolean(),
      commands,
      async (aging, hasMetrics, script) => {
        const real = new Real(aging, hasMetrics);
        await fc.asyncModelRun(() => ({ model: new Model(aging), real }), script);
        for (const getter of real.getters) getter.stop.abort("stopped");
        real.queue.shutDown();
        for (const workItem of real.workItems) workItem.done();
        for (let next = real.queue.take(); next !== undefined; next = real.queue.take())
          next.done();
        expect([real.queue.size, real.queue.inFlight, real.clock.waiters()]).toEqual([0, 0, 0]);
        if (hasMetrics) expect(real.sums.depths).toEqual({});
      },
    ),
    { numRuns: inject("isThorough") ? 150 : 50 },
  );
});
