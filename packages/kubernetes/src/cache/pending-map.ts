/** Entries that the watch may never show: the oldest above this number are dropped. */
export const MAX_UNCERTAIN = 1_000;

/**
 * Entries by text, oldest first. An entry is certain if the watch will show something that removes it. For
 * an object that no selector of the cache ever matched it does not, so the others are bounded.
 */
export class PendingMap<Entry> {
  readonly #entries = new Map<string, Entry>();
  readonly #uncertain = new Set<string>();

  get size(): number {
    return this.#entries.size;
  }

  get(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  set(name: string, entry: Entry, isCertain: boolean): void {
    this.delete(name); // so that it becomes the youngest
    this.#entries.set(name, entry);
    if (isCertain) return;
    this.#uncertain.add(name);
    const [oldest] = this.#uncertain;
    if (oldest !== undefined && this.#uncertain.size > MAX_UNCERTAIN) this.delete(oldest);
  }

  delete(name: string): void {
    this.#entries.delete(name);
    this.#uncertain.delete(name);
  }

  /** The entries that the watch will show. */
  certain(): Entry[] {
    return [...this.#entries].flatMap(([name, entry]) =>
      this.#uncertain.has(name) ? [] : [entry],
    );
  }

  entries(): IterableIterator<[string, Entry]> {
    return this.#entries.entries();
  }
}
