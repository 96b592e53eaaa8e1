import { type Activity, SLOT } from "../store/activity.ts";

const MINUTE = 60_000;
/** How much is shown, in minutes. */
const MINUTES = 60;
/** An outcome is written some milliseconds after its instant, which is that of another host. In milliseconds. */
const LATE = 2 * SLOT;
/** The maximum number of topics that are told apart. */
const TOPICS = 100;

/** What ends an attempt. */
type Ended = "delivered" | "failed" | "dead";

/** A topic now, and over the last hour. Instants are milliseconds since the epoch. */
export interface TopicView {
  /** Undefined for all topics that have no place of their own. */
  readonly topic: string | undefined;
  /** Messages that are pending or retrying. */
  readonly waiting: number;
  readonly dead: number;
  /** Whether there are more that wait, or are dead. */
  readonly isCut: boolean;
  /** The instant at which the oldest that waits was saved; undefined if none waits. */
  readonly oldest: number | undefined;
  /** For each of the last 60 minutes how many messages were delivered, and how many failed or died. */
  readonly delivered: readonly number[];
  readonly failed: readonly number[];
}

/** What is kept of a topic. */
interface Topic {
  readonly slots: Readonly<Record<Ended, Map<number, number>>>;
  now: Pick<TopicView, "waiting" | "dead" | "isCut" | "oldest">;
}

const NOTHING = { waiting: 0, dead: 0, isCut: false, oldest: undefined };

/**
 * The last hour of each topic, in the memory of this process: 360 slots for each of 100 topics at most. The database only keeps
 * what a message is now, so each look reads the last slots again, and a slot never shrinks.
 */
export class History {
  readonly #topics = new Map<string | undefined, Topic>();
  #looked: number | undefined;

  /** The instant since which the next look needs slots. */
  since(now: number): number {
    const last = this.#looked === undefined ? 0 : this.#looked - LATE;
    return Math.floor(Math.max(last, now - MINUTES * MINUTE) / SLOT) * SLOT;
  }

  add(found: readonly Activity[], now: number): void {
    this.#looked = now;
    for (const topic of this.#topics.values()) topic.now = NOTHING;
    const counts = new Map<Map<number, number>, Map<number, number>>();
    for (const activity of found) {
      const topic = this.#topicOf(activity.topic);
      topic.now = withMore(topic.now, activity);
      const { status, slot, count } = activity;
      if (status === "pending" || slot === undefined) continue;
      const slots = topic.slots[status === "retrying" ? "failed" : status];
      const own = counts.get(slots) ?? new Map<number, number>();
      counts.set(slots, own.set(slot, (own.get(slot) ?? 0) + count));
    }
    for (const [slots, own] of counts) raise(slots, own);
    this.#forget(now);
  }

  /** The topics by name, with the others last. */
  views(now: number): readonly TopicView[] {
    const names = [...this.#topics].sort(([a], [b]) => {
      if (a === undefined || b === undefined)
        return Number(a === undefined) - Number(b === undefined);
      return a < b ? -1 : 1;
    });
    return names.map(([topic, { slots, now: state }]) => ({
      topic,
      ...state,
      delivered: perMinute(now, slots.delivered),
      failed: perMinute(now, slots.failed, slots.dead),
    }));
  }

  #topicOf(name: string): Topic {
    const isKnown = this.#topics.has(name) || this.#topics.size < TOPICS;
    const topic = isKnown ? name : undefined;
    const kept = this.#topics.get(topic) ?? {
      slots: { delivered: new Map(), failed: new Map(), dead: new Map() },
      now: NOTHING,
    };
    this.#topics.set(topic, kept);
    return kept;
  }

  /** Slots of more than an hour ago, and topics without any message since. */
  #forget(now: number): void {
    const oldest = now - (MINUTES + 1) * MINUTE;
    for (const [name, { slots, now: state }] of this.#topics) {
      const all = Object.values(slots);
      for (const counts of all) dropBefore(oldest, counts);
      const isEmpty = all.every(({ size }) => size === 0);
      if (isEmpty && state.waiting + state.dead === 0) this.#topics.delete(name);
    }
  }
}

function raise(slots: Map<number, number>, counts: ReadonlyMap<number, number>): void {
  for (const [slot, count] of counts) slots.set(slot, Math.max(slots.get(slot) ?? 0, count));
}

function dropBefore(oldest: number, counts: Map<number, number>): void {
  for (const slot of counts.keys()) if (slot < oldest) counts.delete(slot);
}

/** The state of a topic with further messages in it. */
function withMore(state: Topic["now"], { status, count, oldest, isCut }: Activity): Topic["now"] {
  const { waiting, dead, oldest: known = oldest } = state;
  if (status === "delivered") return state;
  const more = { ...state, isCut: state.isCut || isCut };
  if (status === "dead") return { ...more, dead: dead + count };
  return { ...more, waiting: waiting + count, oldest: Math.min(known, oldest) };
}

/** The sums of each of the last minutes, the last one being under way. */
function perMinute(now: number, ...counts: readonly ReadonlyMap<number, number>[]): number[] {
  const first = Math.floor(now / MINUTE) - MINUTES + 1;
  const sums = Array.from({ length: MINUTES }, () => 0);
  for (const each of counts)
    for (const [slot, count] of each) {
      const minute = Math.floor(slot / MINUTE) - first;
      if (minute in sums) sums[minute] = (sums[minute] as number) + count;
    }
  return sums;
}
