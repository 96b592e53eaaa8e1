import type { WorkItem, WorkQueue } from "@holdfast/controller";

/** The next hand-out, of a queue that has one. */
export function taken<Item>(queue: WorkQueue<Item>): WorkItem<Item> {
  const handOut = queue.take();
  if (handOut === undefined) throw new Error("nothing to take");
  return handOut;
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
