/** How long after its latest repetition a series is over, in milliseconds. */
const SERIES_WINDOW = 360_000;

/** Shortest time between two writes of a series, in milliseconds. */
const WRITE_INTERVAL = 10_000;

/** Events of one object that may begin at once. */
const BURST = 25;

/** Time after which an object that has used its burst may begin another event, in milliseconds. */
const REFILL = 300_000;

/** Largest number of series, and of objects, that are remembered. */
const MAX_KEYS = 1_000;

/** Reference to the object that an event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** One occurrence of an event, its texts within the limits of Kubernetes. */
export interface Occurrence {
  readonly regarding: EventSubject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  /** Whether another note is another event. */
  readonly isText?: boolean;
}

/** Now, on both scales of a clock. */
export interface Instant {
  /** Milliseconds since the epoch. */
  readonly wall: number;
  /** Monotonic milliseconds. */
  readonly monotonic: number;
}

/** An event and its repetitions. The texts are those of the first occurrence. */
export interface EventSeries {
  readonly occurrence: Occurrence;
  /** Number of the series, different from that of every other. */
  readonly number: number;
  /** Wall clock time of the first occurrence. */
  readonly firstAt: number;
  /** Wall clock time of the latest one. */
  lastAt: number;
  /** Monotonic instant of the latest one. */
  seenAt: number;
  /** Occurrences. */
  count: number;
  /** Occurrences that the server knows. 0 before the event is there. */
  written: number;
  /** Monotonic instant of the latest write. */
  writtenAt: number;
}

/**
 * Effect of an occurrence.
 *
 * | Word | Meaning |
 * | --- | --- |
 * | `"begun"` | it begins a series |
 * | `"counted"` | it repeats a series that the server knows in full |
 * | `"pending"` | it repeats a series that is to be written already |
 * | `"limited"` | dropped: its object has used its budget |
 * | `"full"` | dropped: 1,000 series wait for the server |
 */
export type RecordEffect = "begun" | "counted" | "pending" | "limited" | "full";

/** The next write of a series: its event is created, its count patched now or after `delay`, or nothing is due. */
export type SeriesStep =
  | { readonly type: "create" | "patch"; readonly series: EventSeries }
  | { readonly type: "wait"; readonly delay: number }
  | { readonly type: "none" };

/** Series of one recorder. It reads no clock: every method is given the time. */
export class EventSeriesTable {
  /** By key; the one that was recorded last comes last. */
  readonly #series = new Map<string, EventSeries>();
  readonly #budgets = new Map<string, Budget>();
  #number = 0;

  /** Counts an occurrence, if the limits allow. */
  record(occurrence: Occurrence, now: Instant): RecordEffect {
    const key = seriesKey(occurrence);
    const known = this.#series.get(key);
    if (known !== undefined && !isOver(known, now)) {
      const isPending = known.written < known.count;
      known.count += 1;
      known.lastAt = now.wall;
      known.seenAt = now.monotonic;
      this.#touch(key, known);
      return isPending ? "pending" : "counted";
    }
    if (known === undefined && !this.#makeRoom()) return "full";
    if (!this.#spend(objectKey(occurrence), now.monotonic)) return "limited";
    this.#touch(key, {
      occurrence,
      number: ++this.#number,
      firstAt: now.wall,
      lastAt: now.wall,
      seenAt: now.monotonic,
      count: 1,
      written: 0,
      writtenAt: 0,
    });
    return "begun";
  }

  /** The next write of a series. With `isLast` no write waits for its interval. */
  next(key: string, monotonic: number, isLast: boolean): SeriesStep {
    const series = this.#series.get(key);
    if (series === undefined || series.written === series.count) return { type: "none" };
    if (series.written === 0) return { type: "create", series };
    const delay = series.writtenAt + WRITE_INTERVAL - monotonic;
    if (delay > 0 && !isLast) return { type: "wait", delay };
    return { type: "patch", series };
  }

  /** Keys of the series that the server does not know in full. */
  get pending(): string[] {
    return [...this.#series].filter(([, one]) => one.written < one.count).map(([key]) => key);
  }

  /** Forgets a series that cannot be written. */
  forget(key: string): void {
    this.#series.delete(key);
  }

  /** A series whose event the server has removed continues in a new event. */
  restart(key: string, series: EventSeries): void {
    this.#series.set(key, { ...series, number: ++this.#number, written: 0 });
  }

  #touch(key: string, series: EventSeries): void {
    this.#series.delete(key);
    this.#series.set(key, series);
  }

  /** Makes room for a series: that of the longest quiet event which the server knows in full. */
  #makeRoom(): boolean {
    if (this.#series.size < MAX_KEYS) return true;
    for (const [key, { written, count }] of this.#series)
      if (written === count) return this.#series.delete(key);
    return false;
  }

  #spend(object: string, monotonic: number): boolean {
    const before = this.#budgets.get(object) ?? { tokens: BURST, at: monotonic };
    const tokens = Math.min(BURST, before.tokens + (monotonic - before.at) / REFILL);
    const isAllowed = tokens >= 1;
    this.#budgets.delete(object);
    this.#budgets.set(object, { tokens: isAllowed ? tokens - 1 : tokens, at: monotonic });
    if (this.#budgets.size > MAX_KEYS)
      this.#budgets.delete(this.#budgets.keys().next().value as string);
    return isAllowed;
  }
}

interface Budget {
  readonly tokens: number;
  readonly at: number;
}

/** Key of the series of an occurrence: object, type, reason and action, and the note of an event that its text tells apart. */
export function seriesKey(occurrence: Occurrence): string {
  const { type, reason, action, note, isText = false } = occurrence;
  return JSON.stringify([objectKey(occurrence), type, reason, action, ...(isText ? [note] : [])]);
}

function objectKey({ regarding }: Occurrence): string {
  const { apiVersion, kind, namespace, name, uid } = regarding;
  return JSON.stringify([apiVersion, kind, namespace, name, uid]);
}

function isOver({ seenAt, written, count }: EventSeries, { monotonic }: Instant): boolean {
  return written === count && seenAt + SERIES_WINDOW <= monotonic;
}
