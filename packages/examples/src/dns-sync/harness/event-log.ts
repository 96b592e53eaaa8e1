import type { PassiveClock } from "@holdfast/clock";
import type { LogEntry } from "../../web/log-entry.ts";

const LENGTH = 80;

/** The log of a run: faults and events, the latest 80. */
export class EventLog {
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

  /** @param name - subject of the entry, such as a replica */
  add(name: string, text: string): void {
    const entry = { at: this.#clock.now(), name, text };
    this.#entries = [...this.#entries, entry].slice(-LENGTH);
    for (const listener of this.#listeners) listener(entry);
  }
}
