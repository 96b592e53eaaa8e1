import { type WorkItem, WorkQueue } from "@holdfast/controller";
import { limiterRejections, rejectedOptions } from "../go-limiter.ts";
import { limiterModel } from "../limiter-model.ts";
import type { QueueCase, QueueOp } from "../queue-case.ts";
import { QueueModel } from "../queue-model.ts";
import { happenings, runModel, runQueue } from "../queue-run.ts";
import { withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf, type Trace } from "../trace.ts";

const kinds = ["typed", "delaying", "rateLimiting"];

/** `NewTypedWithConfig`, `NewTypedDelayingQueueWithConfig` and `NewTypedRateLimitingQueueWithConfig`. */
export const queueTraces: Section<QueueCase> = {
  file: "workqueue.json",
  name: "traces",
  fields: [
    ...["id", "kind", "profile", "ops", "res", "processingAtEnd", "ties"],
    ...["kind", "base", "max", "fast", "slow", "maxFast", "qps", "burst", "of"].map(
      (field) => `limiter.${field}`,
    ),
  ],
  unseen: {},
  rules: [
    "rejected-at-the-door",
    "counts-when-over",
    "bounded-debt",
    "every-limiter-counts",
    "delayed-runs-once",
    "first-come-first-due",
    "in-order-of-adds",
    "done-is-of-a-hand-out",
    "drained-is-done",
    "ends-with-the-last-key",
  ],

  recorded: ({ res, processingAtEnd }) => ({
    res: res.map(({ w = [], dr = [], unordered: _, ...rest }) => ({
      ...fieldsOf(rest),
      ...happenings({ served: w.map(([, item]) => item), drained: [...dr] }),
    })),
    processingAtEnd: processingAtEnd.toSorted((a, b) => a - b).map(BigInt),
  }),

  predict(kase, recorded, inForce) {
    const { limiter } = kase;
    const rejected = limiter === undefined ? [] : Object.keys(rejectedOptions(limiter));
    if (rejected.length > 0)
      return inForce.has("rejected-at-the-door") ? withRejected(rejected, {}) : recorded;
    const model = limiter === undefined ? undefined : limiterModel(limiter, inForce);
    return runModel(kase, new QueueModel(inForce, model));
  },

  async replay(kase) {
    if (!kinds.includes(kase.kind)) throw new Error(`unknown kind ${kase.kind}`);
    const rejected = kase.limiter === undefined ? [] : limiterRejections(kase.limiter);
    return rejected.length > 0 ? { rejected } : await runQueue(kase);
  },
};

/** `TypedQueueConfig.Queue`: here a priority makes a custom order. */
export const customQueue: Section<Pick<QueueCase, "ops" | "res">> = {
  file: "workqueue.json",
  name: "customQueue",
  fields: ["id", "ops", "res"],
  unseen: { calls: "calls of a custom `Queue`; its order is compared" },
  rules: [],
  recorded: ({ res }) => ({ res: res.map(fieldsOf) }),
  predict: (_kase, recorded) => recorded,
  replay: ({ ops }) => ({ res: runStack(ops) }),
};

/** The last in is the first out: each has a higher priority than all before it. */
function runStack(ops: readonly QueueOp[]): Trace[] {
  const queue = new WorkQueue<number>({ keyOf: String, aging: Number.POSITIVE_INFINITY });
  const workItems = new Map<number, WorkItem<number>>();
  const waiting = new Set<number>();
  let priority = 0;
  const push = (key: number): void => {
    waiting.add(key);
    queue.add(key, { priority: ++priority });
  };
  const operate = ([name, first]: QueueOp): Fields => {
    const key = Number(first);
    switch (name) {
      case "add":
        if (waiting.has(key) || workItems.has(key)) queue.add(key);
        else if (!queue.isShutDown) push(key);
        return {};
      case "get": {
        const workItem = queue.take();
        if (workItem === undefined) return { x: 1n };
        waiting.delete(workItem.item);
        workItems.set(workItem.item, workItem);
        return { i: BigInt(workItem.item) };
      }
      case "done": {
        const before = queue.size;
        workItems.get(key)?.done();
        workItems.delete(key);
        if (queue.size > before) push(key);
        return {};
      }
      case "shutDown":
        queue.shutDown();
        return {};
      default:
        throw new Error(`unknown operation ${name}`);
    }
  };
  return ops.map((op) => ({
    ...operate(op),
    l: BigInt(queue.size),
    s: queue.isShutDown ? 1n : 0n,
  }));
}
