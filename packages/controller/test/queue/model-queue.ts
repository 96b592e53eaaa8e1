/** What a work queue does, written for being read: lists that are searched, and no time but what it is told. */
export class ModelQueue {
  now = 0;
  isShutDown = false;
  /** Of priority 0 when they came, in the order in which they came. */
  plain: Waiting[] = [];
  /** All others, in the order in which they came. */
  ranked: Waiting[] = [];
  delayed: (Entry & { due: number })[] = [];
  /** By key; `again` is what is to be queued when it is done. */
  inFlight = new Map<string, { again: Waiting | undefined }>();
  adds = 0;
  #arrivals = 0;
  #timedSince: number | undefined = undefined;
  readonly #aging: number;

  constructor(aging: number) {
    this.#aging = aging;
  }

  get size(): number {
    return this.plain.length + this.ranked.length;
  }

  /** Whether nothing is handed out any more. */
  get isOver(): boolean {
    const isAgain = [...this.inFlight.values()].some(({ again }) => again !== undefined);
    return this.isShutDown && this.size === 0 && !isAgain;
  }

  /** How many wait to be handed out, now or again, by priority. */
  get depth(): Record<string, number> {
    const again = [...this.inFlight.values()].flatMap((work) => work.again ?? []);
    const depth: Record<string, number> = {};
    for (const { priority } of [...this.plain, ...this.ranked, ...again])
      depth[priority] = (depth[priority] ?? 0) + 1;
    return depth;
  }

  add(key: string, item: number, after: number, priority: number): void {
    if (this.isShutDown && (after <= 0 || this.#isWaiting(key))) return;
    if (priority !== 0 && this.#timedSince === undefined) {
      this.#timedSince = this.now;
      for (const waiting of this.plain) waiting.since = this.now;
    }
    const waiting = [...this.plain, ...this.ranked].find((entry) => entry.key === key);
    const again = this.inFlight.get(key)?.again;
    const delayed = this.delayed.find((entry) => entry.key === key);
    if (waiting !== undefined) {
      waiting.item = item;
      if (priority > waiting.priority) this.#raise(waiting, priority);
    } else if (again !== undefined) {
      again.item = item;
      again.priority = Math.max(again.priority, priority);
    } else if (after > 0) {
      this.#postpone(delayed, { key, item, priority, due: this.now + after });
    } else {
      if (delayed !== undefined) this.delayed.splice(this.delayed.indexOf(delayed), 1);
      const most = Math.max(priority, delayed?.priority ?? priority);
      this.#queue({ key, item, priority: most, since: this.now, arrival: this.#arrivals++ });
    }
  }

  cancel(key: string): boolean {
    const index = this.delayed.findIndex((entry) => entry.key === key);
    if (index >= 0) this.delayed.splice(index, 1);
    return index >= 0;
  }

  take(): Waiting | undefined {
    const plain = this.plain.map((waiting) => ({ waiting, rank: this.#rank(0, waiting.since) }));
    const ranked = this.ranked.map((waiting) => ({ waiting, rank: this.#rankOf(waiting) }));
    const [first] = [...plain, ...ranked].toSorted((a, b) =>
      a.rank === b.rank ? a.waiting.arrival - b.waiting.arrival : a.rank - b.rank,
    );
    const taken = first?.waiting;
    this.plain = this.plain.filter((waiting) => waiting !== taken);
    this.ranked = this.ranked.filter((waiting) => waiting !== taken);
    if (taken !== undefined) this.inFlight.set(taken.key, { again: undefined });
    return taken;
  }

  done(key: string): void {
    const again = this.inFlight.get(key)?.again;
    this.inFlight.delete(key);
    if (again === undefined) return;
    again.since = Math.max(again.since, this.#timedSince ?? again.since);
    this.#push(again);
  }

  /** The next instant up to `end` at which something is due. */
  nextDue(end: number): number | undefined {
    const due = Math.min(...this.delayed.map((entry) => entry.due));
    return due <= end && !this.isShutDown ? due : undefined;
  }

  /** Queues what is due now. */
  comeDue(): void {
    const due = this.delayed.filter((entry) => entry.due <= this.now);
    this.delayed = this.delayed.filter((entry) => entry.due > this.now);
    for (const { key, item, priority, due: since } of due)
      this.#queue({ key, item, priority, since, arrival: this.#arrivals++ });
  }

  #isWaiting(key: string): boolean {
    const isQueued = [...this.plain, ...this.ranked].some((entry) => entry.key === key);
    return isQueued || this.inFlight.get(key)?.again !== undefined;
  }

  #queue(waiting: Waiting): void {
    this.adds++;
    const work = this.inFlight.get(waiting.key);
    if (work !== undefined) work.again = waiting;
    else this.#push(waiting);
  }

  #push(waiting: Waiting): void {
    if (waiting.priority === 0) this.plain.push(waiting);
    else this.ranked.push({ ...waiting, rank: this.#rank(waiting.priority, waiting.since) });
  }

  #postpone(delayed: (Entry & { due: number }) | undefined, entry: Entry & { due: number }): void {
    if (delayed === undefined) {
      this.delayed.push(entry);
      return;
    }
    delayed.item = entry.item;
    delayed.priority = Math.max(delayed.priority, entry.priority);
    if (entry.due >= delayed.due) return;
    this.delayed.splice(this.delayed.indexOf(delayed), 1);
    this.delayed.push({ ...delayed, due: entry.due });
  }

  #raise(waiting: Waiting, priority: number): void {
    const isPlain = this.plain.includes(waiting);
    const rank = isPlain ? this.#rank(0, waiting.since) : this.#rankOf(waiting);
    waiting.priority = priority;
    if (this.#rank(priority, this.now) >= rank) return;
    const list = isPlain ? this.plain : this.ranked;
    list.splice(list.indexOf(waiting), 1);
    this.#push({ ...waiting, since: this.now, arrival: this.#arrivals++ });
  }

  #rankOf(waiting: Waiting): number {
    return waiting.rank ?? Number.NaN;
  }

  #rank(priority: number, since: number): number {
    return this.#aging === Number.POSITIVE_INFINITY ? -priority : since - priority * this.#aging;
  }
}

export interface Entry {
  readonly key: string;
  item: number;
  priority: number;
}

export interface Waiting extends Entry {
  since: number;
  /** Counts adds: of equal ranks the earlier goes first, also if its key was in flight when it was added. */
  arrival: number;
  /** Of what did not have priority 0 when it came. */
  rank?: number;
}
