import { setImmediate } from "node:timers";

/**
 * Resolves when the event loop has asked the operating system once more for what has come meanwhile,
 * and has dealt with it. It takes no time: where nothing has come, nothing is waited for.
 */
export async function nextTurn(): Promise<void> {
  // The first runs at the end of this turn, the second at the end of the next.
  await new Promise<void>((go) => setImmediate(() => setImmediate(go)));
}
