import { FakeClock } from "@holdfast/clock/testing";
import { type WorkItem, WorkQueue } from "@holdfast/controller";
import { createLimiter } from "./go-limiter.ts";
import { type GoInt, toMilliseconds, toNanoseconds } from "./nanoseconds.ts";
import type { QueueCase, QueueOp } from "./queue-case.ts";
import type { Happened, QueueModel } from "./queue-model.ts";
import type { Fields, Trace } from "./trace.ts";

/** What a trace is run on. */
interface Subject {
  /** Undefined when there is nothing. */
  get(): number | undefined;
  wait(): void;
  done(key: number): void;
  add(key: number): void;
  addAfter(key: number, delay: GoInt): void;
  /** In nanoseconds. */
  addRateLimited(key: number): bigint;
  forget(key: number): void;
  requeues(key: number): number;
  step(duration: GoInt): void;
  shutDown(): void;
  drain(id: number): void;
  state(): { size: number; isShutDown: boolean; processing: number[] };
}

/** Runs a trace on the model. */
export function runModel(kase: QueueCase, model: QueueModel): Fields {
  const subject = modelSubject(model);
  const res = kase.ops.map((op, index) => {
    const answer = operate(subject, op);
    return resultOf(subject, answer, model.settle(), requeuesAskedFor(kase, index));
  });
  return { res, processingAtEnd: processingOf(subject) };
}

/** Runs a trace on a `WorkQueue`, which takes its turns of the event loop. */
export async function runQueue(kase: QueueCase): Promise<Fields> {
  const { subject, settle } = queueSubject(kase);
  const res: Trace[] = [];
  for (const [index, op] of kase.ops.entries()) {
    const answer = operate(subject, op);
    res.push(resultOf(subject, answer, await settle(), requeuesAskedFor(kase, index)));
  }
  return { res, processingAtEnd: processingOf(subject) };
}

/** The key whose number of failures was recorded after an operation. */
function requeuesAskedFor({ ops, res }: QueueCase, index: number): number | undefined {
  return res[index]?.n === undefined ? undefined : Number(ops[index]?.[1]);
}

function resultOf(
  subject: Subject,
  answer: Fields,
  happened: Happened,
  key: number | undefined,
): Fields {
  const { size, isShutDown } = subject.state();
  return {
    ...answer,
    ...happenings(happened),
    ...(key === undefined ? {} : { n: BigInt(subject.requeues(key)) }),
    l: BigInt(size),
    s: isShutDown ? 1n : 0n,
  };
}

function processingOf(subject: Subject): bigint[] {
  return subject.state().processing.toSorted(ascending).map(BigInt);
}

const ascending = (a: number, b: number): number => a - b;

/** Which waiter got which item depends on Go's scheduler, so the items are compared as a set. */
export function happenings({ served, drained }: Happened): Fields {
  const items = served.filter((item) => item !== null).toSorted(ascending);
  const ends = served.filter((item) => item === null).map(() => "over");
  return {
    ...(served.length > 0 ? { w: [...items.map(BigInt), ...ends] } : {}),
    ...(drained.length > 0 ? { dr: drained.toSorted(ascending).map(BigInt) } : {}),
  };
}

function operate(subject: Subject, [name, first = 0, second = 0]: QueueOp): Fields {
  const key = Number(first);
  switch (name) {
    case "get": {
      const item = subject.get();
      if (item !== undefined) return { i: BigInt(item) };
      return subject.state().isShutDown ? { x: 1n } : {};
    }
    case "addRateLimited":
      return { d: subject.addRateLimited(key) };
    case "addAfter":
      subject.addAfter(key, second);
      return {};
    case "step":
      subject.step(first);
      return {};
    case "getAsync":
      subject.wait();
      return {};
    case "shutDown":
      subject.shutDown();
      return {};
    case "shutDownWithDrain":
      subject.drain(key);
      return {};
    case "numRequeues":
      return {};
    case "add":
    case "done":
    case "forget":
      subject[name](key);
      return {};
    default:
      throw new Error(`unknown operation ${name}`);
  }
}

/** The model as a subject. */
function modelSubject(model: QueueModel): Subject {
  return {
    get: () => model.get(),
    wait: () => model.wait(),
    done: (key) => model.done(key),
    add: (key) => model.add(key),
    addAfter: (key, delay) => model.addAfter(key, Number(delay)),
    addRateLimited: (key) => BigInt(model.addRateLimited(key)),
    forget: (key) => model.forget(key),
    requeues: (key) => model.requeues(key),
    step: (duration) => model.step(Number(duration)),
    shutDown: () => model.shutDown(),
    drain: (id) => model.drain(id),
    state: () => ({
      size: model.queue.length,
      isShutDown: model.isShutDown,
      processing: [...model.held],
    }),
  };
}

/** A `WorkQueue` as a subject, on a clock of its own, and what has happened since it was last asked. */
function queueSubject({ limiter }: QueueCase): {
  subject: Subject;
  settle: () => Promise<Happened>;
} {
  const clock = new FakeClock();
  const clocks = { perKey: clock, bucket: clock, bucketKey: (key: string) => key };
  const queue = new WorkQueue<number>({
    keyOf: String,
    clock,
    limiter: limiter === undefined ? undefined : createLimiter(limiter, clocks),
  });
  const workItems = new Map<number, WorkItem<number>>();
  const spent = new Map<number, WorkItem<number>>();
  let happened: Happened = { served: [], drained: [] };
  const keep = (workItem: WorkItem<number> | undefined): number | undefined => {
    if (workItem !== undefined) workItems.set(workItem.item, workItem);
    return workItem?.item;
  };
  return {
    subject: {
      get: () => keep(queue.take()),
      wait: () => void queue.get().then((work) => happened.served.push(keep(work) ?? null)),
      done(key) {
        const workItem = workItems.get(key) ?? spent.get(key);
        workItem?.done();
        workItems.delete(key);
        if (workItem !== undefined) spent.set(key, workItem);
      },
      add: (key) => queue.add(key),
      addAfter: (key, delay) => queue.add(key, { after: toMilliseconds(delay) }),
      addRateLimited: (key) => toNanoseconds(queue.retry(key)),
      forget: (key) => queue.forget(key),
      requeues: (key) => queue.requeues(key),
      step: (duration) => clock.stepSync(toMilliseconds(duration)),
      shutDown: () => queue.shutDown(),
      drain: (id) => void queue.drain().then(() => happened.drained.push(id)),
      state: () => ({
        size: queue.size,
        isShutDown: queue.isShutDown,
        processing: [...workItems.keys()],
      }),
    },
    async settle() {
      for (let i = 0; i < 10; i++) await Promise.resolve();
      const settled = happened;
      happened = { served: [], drained: [] };
      return settled;
    },
  };
}
