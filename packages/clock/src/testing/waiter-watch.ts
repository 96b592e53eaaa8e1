import { abortSignal, type Kinds, read, requireWhole } from "@holdfast/kit";
import { onAbort } from "../abort/on-abort.ts";
import { eventLoop } from "./event-loop.ts";
import type { WaitForWaitersOptions } from "./test-clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

export const WAIT_FOR_WAITERS_OPTIONS: Kinds<WaitForWaitersOptions> = {
  signal: abortSignal,
};

type CountedTime = Pick<VirtualTime, "needsPolling" | "size">;

interface Watcher {
  readonly count: number;
  readonly met: () => void;
}

/** The pending `waitForWaiters` calls of one clock. */
export class WaiterWatch {
  readonly #time: CountedTime;
  readonly #watchers = new Set<Watcher>();
  #cancelPolling: (() => void) | undefined = undefined;

  constructor(time: CountedTime) {
    this.#time = time;
  }

  /** Resolves the calls whose count is reached; called when a timer is armed. */
  check(): void {
    if (this.#watchers.size === 0) return;
    const { size } = this.#time;
    for (const watcher of this.#watchers) {
      if (watcher.count > size) continue;
      this.#remove(watcher);
      watcher.met();
    }
  }

  wait(count: number, options: WaitForWaitersOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      requireWhole("count", count, 0);
      const { signal } = read("options", options, "waitForWaiters", WAIT_FOR_WAITERS_OPTIONS);
      if (signal?.aborted) reject(signal.reason);
      else if (this.#time.size >= count) resolve();
      else if (signal === undefined) this.#add({ count, met: resolve });
      else this.#addUntil(signal, count, resolve, reject);
    });
  }

  #addUntil(
    signal: AbortSignal,
    count: number,
    resolve: () => void,
    reject: (reason: unknown) => void,
  ): void {
    const subscription = onAbort(signal, (reason) => {
      this.#remove(watcher);
      reject(reason);
    });
    const watcher: Watcher = {
      count,
      met: () => {
        subscription[Symbol.dispose]();
        resolve();
      },
    };
    this.#add(watcher);
  }

  #add(watcher: Watcher): void {
    this.#watchers.add(watcher);
    if (this.#time.needsPolling) this.#cancelPolling ??= eventLoop.watch(() => this.check());
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#cancelPolling?.();
    this.#cancelPolling = undefined;
  }
}
