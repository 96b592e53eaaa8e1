/** Entries that the watch may never show: the oldest above this number are dropped. */
export const MAX_UNCERTAIN = 1_000;

/**
 * Entries by text, oldest first. An entry is certain if the watch will show something that removes it. For
 * an object that no selector of the cache ever matched it does not, so the others are bounded.
 */
export class PendingMap<Entry> extends Map<string, Entry> {
  readonly #uncertain = new Set<string>();

  add(name: string, entry: Entry, isCertain: boolean): void {
    this.delete(name); // so that it becomes the youngest
    this.set(name, entry);
    if (isCertain) return;
    this.#uncertain.add(name);
    const [oldest] = this.#uncertain;
    if (oldest !== undefined && this.#uncertain.size > MAX_UNCERTAIN) this.delete(oldest);
  }

  override delete(name: string): boolean {
    this.#uncertain.delete(name);
    return super.delete(name);
  }

  /** The entries that the watch will show. */
  certain(): Entry[] {
    return [...this].flatMap(([name, entry]) => (this.#uncertain.has(name) ? [] : [entry]));
  }
}
