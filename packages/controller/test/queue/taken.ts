import type { QueueMetrics, WorkItem, WorkQueue } from "@holdfast/controller";

/** Metrics that ignore every fact. */
export const ignored: QueueMetrics = {
  depth: () => {},
  added: () => {},
  started: () => {},
  finished: () => {},
  retried: () => {},
  watch: () => {},
  ended: () => {},
};

/** The next work item of a queue that has one. */
export function taken<Item>(queue: WorkQueue<Item>): WorkItem<Item> {
  const workItem = queue.take();
  if (workItem === undefined) throw new Error("nothing to take");
  return workItem;
}

/** Takes everything there is, is done with each at once, and returns the keys. */
export function takeAll<Item>(queue: WorkQueue<Item>): string[] {
  const keys: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    keys.push(next.key);
    next.done();
  }
  return keys;
}
