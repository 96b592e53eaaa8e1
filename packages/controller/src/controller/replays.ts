import { type Clock, onAbort, type Timer } from "@holdfast/clock";
import { deferred } from "@holdfast/kit";
import { Backoff, type DelayFunc } from "@holdfast/wait";

/** A start has told all that exists when it has reported nothing for so long, in milliseconds. */
const QUIET = 1_000;

/** A start that reports nothing at all has nothing to tell after this time, in milliseconds. */
const LONGEST_LIST = 60_000;

/**
 * Time between two starts for slots, in milliseconds: slots that come meanwhile share the second one. It grows while slots
 * keep coming, as they do one by one when a replica joins.
 */
const SPACING = { duration: 1_000, factor: 2, cap: 30_000 };

/** One call of the source, while it lasts. */
export interface SourceCall {
  /** Resolves when it has ended or was replaced. Rejects if the source has failed. */
  readonly ended: Promise<void>;
  /** Aborts it, and resolves `ended`. */
  readonly replace: () => void;
  /** Whether it has told all that exists before `start` returned. */
  readonly isSynchronous: boolean;
}

/** What a start of a source reports to. */
export interface Passage<Item> {
  /** Whether all items that exist were told. From then on each item is a change, and is passed on. */
  readonly isComplete: boolean;
  /** Whether an item is passed on before that. */
  readonly isNew: (item: Item) => boolean;
  /** All items that exist were told. */
  readonly listed: () => void;
  /** The source has reported an error: its list may be tried again. */
  readonly failed: () => void;
}

/** What {@link Replays} need. */
export interface ReplaysOptions<Item> {
  readonly clock: Clock;
  /** Starts the source. */
  readonly begin: (passage: Passage<Item>) => SourceCall;
  /** Whether slots may come, also after the source has ended. */
  readonly isSharded: boolean;
  /** The source has ended, and starts again when a slot comes. */
  readonly onRest: () => void;
  /** A start for slots has failed beside one that reports the items of the others. It is tried again. */
  readonly onRetry: (error: unknown) => void;
}

/** A start of the source, for some slots at first. */
interface Start<Item> extends Passage<Item> {
  readonly wants: (item: Item) => boolean;
  call: SourceCall | undefined;
  isComplete: boolean;
  /** When it is complete, if it reports nothing more. */
  quietAt: number;
  timer: Timer | undefined;
}

/**
 * The starts of a source under one signal. When slots come, the source starts anew beside the starts that report the
 * items of the others: only the items of the new slots pass, until all that exist were told. Then it takes the place of
 * the older ones. So a slot costs the reconciles of its own keys, slots that come together cost one list, and no change
 * is lost in between.
 */
export class Replays<Item> {
  readonly #options: ReplaysOptions<Item>;
  readonly #signal: AbortSignal;
  readonly #done = deferred<void>();
  /** The oldest first: the latest complete one, and those that are not complete. */
  #starts: Start<Item>[] = [];
  /** Calls that have not ended. */
  readonly #calls = new Set<SourceCall>();
  /** The items of slots that have come since the last start. */
  #wanted: ((item: Item) => boolean)[] = [];
  /** When the next start for slots may begin. */
  #nextAt = Number.NEGATIVE_INFINITY;
  #spacing: DelayFunc = new Backoff(SPACING).delayFunc();
  /** Of the start for slots that have come. */
  #timer: Timer | undefined;
  #hasEnded = false;

  constructor(signal: AbortSignal, options: ReplaysOptions<Item>) {
    this.#signal = signal;
    this.#options = options;
  }

  /** Resolves when the source has ended, by itself or after the abort. Rejects if it fails. */
  async run(): Promise<void> {
    const subscription = onAbort(this.#signal, () => {
      this.#end();
      this.#settle();
    });
    this.#start(() => true);
    try {
      await this.#done.promise;
    } finally {
      subscription[Symbol.dispose]();
      this.#end();
      for (const call of this.#calls) call.replace();
    }
  }

  /**
   * Has the items told for which `isWanted` returns true, by a start that begins afterwards. Slots that come at one
   * moment, or soon after a start, share one: see {@link SPACING}.
   */
  add(isWanted: (item: Item) => boolean): void {
    // A source that tells all before it returns has it in memory.
    const isFree = this.#starts.at(-1)?.call?.isSynchronous === true;
    this.#want(isWanted, isFree ? 0 : this.#nextAt);
  }

  /** Starts for some items at an instant, or with those that wait for a start already. */
  #want(isWanted: (item: Item) => boolean, at: number): void {
    if (this.#hasEnded || this.#wanted.push(isWanted) > 1) return;
    const { clock } = this.#options;
    const delay = at - clock.monotonic();
    const start = (): void => this.#startForSlots();
    if (delay > 0) this.#timer = clock.afterFunc(delay, start, { label: "slots" });
    else void Promise.resolve().then(start);
  }

  #startForSlots(): void {
    if (this.#hasEnded) return;
    const now = this.#options.clock.monotonic();
    if (now - this.#nextAt >= SPACING.cap) this.#spacing = new Backoff(SPACING).delayFunc();
    this.#nextAt = now + this.#spacing();
    const wanted = this.#wanted.splice(0);
    this.#start((item) => wanted.some((wants) => wants(item)));
  }

  /** Begins no further start. */
  #end(): void {
    this.#hasEnded = true;
    this.#timer?.stop();
    for (const { timer } of this.#starts) timer?.stop();
  }

  #start(wants: Start<Item>["wants"]): void {
    const { clock, begin, isSharded } = this.#options;
    const start: Start<Item> = {
      wants,
      isComplete: !isSharded, // without slots there is no other start
      isNew: (item) => this.#isNew(start, item),
      listed: () => this.#complete(start),
      failed: () => {
        start.quietAt = clock.monotonic() + LONGEST_LIST;
      },
      quietAt: clock.monotonic() + LONGEST_LIST,
      call: undefined,
      timer: undefined,
    };
    this.#starts.push(start);
    const call = begin(start);
    start.call = call;
    this.#calls.add(call);
    void call.ended.then(
      () => this.#ended(start, call),
      (error: unknown) => {
        this.#calls.delete(call);
        this.#failed(start, error);
      },
    );
    if (call.isSynchronous || start.isComplete) this.#replaceOlder(start);
    else this.#awaitQuiet(start);
  }

  /** Whether the item of a start that is not complete is of its slots, and will not be told by a later start. */
  #isNew(start: Start<Item>, item: Item): boolean {
    start.quietAt = this.#options.clock.monotonic() + QUIET;
    const newer = this.#starts.slice(this.#starts.indexOf(start) + 1).map(({ wants }) => wants);
    return start.wants(item) && ![...newer, ...this.#wanted].some((wants) => wants(item));
  }

  /** Completes a start that reports nothing more. */
  #awaitQuiet(start: Start<Item>): void {
    const { clock } = this.#options;
    const left = start.quietAt - clock.monotonic();
    if (left <= 0) this.#complete(start);
    else
      start.timer = clock.afterFunc(Math.min(left, QUIET), () => this.#awaitQuiet(start), {
        label: "list of a slot",
      });
  }

  #complete(start: Start<Item>): void {
    if (start.isComplete) return;
    start.isComplete = true;
    if (start.call !== undefined) this.#replaceOlder(start);
  }

  /** The latest complete start reports the changes of all slots. An older one that is not complete goes on until it is. */
  #replaceOlder(start: Start<Item>): void {
    start.isComplete = true;
    start.timer?.stop();
    const complete = this.#starts.filter(({ isComplete }) => isComplete);
    for (const older of complete.slice(0, -1)) {
      this.#starts.splice(this.#starts.indexOf(older), 1);
      older.call?.replace();
    }
  }

  #ended(start: Start<Item>, call: SourceCall): void {
    this.#calls.delete(call);
    if (this.#starts.includes(start)) this.#complete(start);
    this.#settle();
  }

  #failed(start: Start<Item>, error: unknown): void {
    const others = this.#starts.filter((other) => other !== start);
    if (this.#hasEnded || start.isComplete || !others.some(({ isComplete }) => isComplete)) {
      this.#done.reject(error);
      return;
    }
    start.timer?.stop();
    this.#starts = others;
    this.#want(start.wants, this.#nextAt);
    this.#options.onRetry(error);
  }

  #settle(): void {
    if (this.#calls.size > 0) return;
    if (this.#signal.aborted || !this.#options.isSharded) this.#done.resolve();
    else if (this.#wanted.length === 0) this.#options.onRest();
  }
}
