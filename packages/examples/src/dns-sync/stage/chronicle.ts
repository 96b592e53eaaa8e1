import type { PassiveClock } from "@holdfast/clock";
import type { LogEntry } from "../../web/log-entry.ts";

const LENGTH = 80;

/** The latest faults, and what followed. */
export class Chronicle {
  readonly #clock: PassiveClock;
  readonly #listeners = new Set<(entry: LogEntry) => void>();
  #entries: readonly LogEntry[] = [];

  constructor(clock: PassiveClock) {
    this.#clock = clock;
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  onEntry(listener: (entry: LogEntry) => void): void {
    this.#listeners.add(listener);
  }

  /** @param name - what it is about */
  log(name: string, text: string): void {
    const entry = { at: this.#clock.now(), name, text };
    this.#entries = [...this.#entries, entry].slice(-LENGTH);
    for (const listener of this.#listeners) listener(entry);
  }
}
