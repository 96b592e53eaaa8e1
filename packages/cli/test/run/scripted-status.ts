import type { PassiveClock } from "@holdfast/clock";
import type { Snapshot, SnapshotSource } from "../../src/run/web/snapshot.ts";

/** A source that shows what a test tells it to. */
export class ScriptedStatus implements SnapshotSource {
  readonly #clock: PassiveClock;
  readonly #listeners = new Set<() => void>();
  #state: Omit<Snapshot, "at">;

  constructor(clock: PassiveClock, state: Partial<Snapshot> = {}) {
    this.#clock = clock;
    this.#state = {
      file: "demo.yaml",
      pid: 1,
      processes: [],
      log: [],
      ...state,
    };
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  snapshot(): Snapshot {
    return { at: this.#clock.now(), ...this.#state };
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Changes some of what it shows. */
  show(change: Partial<Snapshot>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
