import { setImmediate } from "node:timers";

/**
 * Resolves when the event loop has polled the operating system once more and has handled the new events. It
 * does not wait if there are none.
 */
export async function nextTurn(): Promise<void> {
  // The first runs at the end of this turn, the second at the end of the next.
  await new Promise<void>((go) => setImmediate(() => setImmediate(go)));
}
