import { onAbort } from "../abort/on-abort.ts";
import { requireOptions, requireSignal, requireWhole } from "../internal/arguments.ts";
import { eventLoop } from "./event-loop.ts";
import type { WaitForWaitersOptions } from "./test-clock.ts";

/** What a {@link WaiterWatch} counts. */
export interface Counted {
  /** True if timers can be armed without a call of {@link WaiterWatch.look}. */
  readonly silent: boolean;
  /** How many timers are armed. */
  readonly size: number;
}

interface Watcher {
  readonly count: number;
  readonly met: () => void;
}

/** Those who wait for a number of timers to be armed. */
export class WaiterWatch {
  readonly #subject: Counted;
  readonly #watchers = new Set<Watcher>();
  #cancelWatch: (() => void) | undefined = undefined;

  constructor(subject: Counted) {
    this.#subject = subject;
  }

  /** To be called when a timer is armed. */
  look(): void {
    if (this.#watchers.size === 0) return;
    const { size } = this.#subject;
    for (const watcher of this.#watchers) {
      if (watcher.count > size) continue;
      this.#remove(watcher);
      watcher.met();
    }
  }

  wait(count: number, options: WaitForWaitersOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      requireWhole("count", count, 0);
      requireOptions("options", options);
      const { signal } = options;
      if (signal !== undefined) requireSignal("options.signal", signal);
      signal?.throwIfAborted();
      if (this.#subject.size >= count) resolve();
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
    if (this.#subject.silent) this.#cancelWatch ??= eventLoop.watch(() => this.look());
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0) return;
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }
}
