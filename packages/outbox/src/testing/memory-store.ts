import { onAbort } from "@holdfast/clock";
import { requireOptions } from "@holdfast/clock/internal";
import type { Message, MessageStatus, NewMessage } from "../message/message.ts";
import { pendingMessage } from "../message/pending-message.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import {
  type Backlog,
  type ClaimRequest,
  type Failure,
  type Fence,
  type MessageOrder,
  type OutboxStore,
  type ReplayRequest,
  requireOrder,
  requireReplay,
  type SaveOptions,
} from "../store/outbox-store.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import {
  byDueTime,
  bySequence,
  claimOf,
  copy,
  dueTimeOf,
  type Entry,
  isWaiting,
  keyOf,
} from "./entry.ts";

/** Options for {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The order of messages of one business key.
   *
   * @defaultValue `"none"`
   */
  readonly order?: MessageOrder | undefined;
}

/** The messages that a transaction of a {@link MemoryStore} adds when it commits. */
export class MemoryTransaction {
  /** In the order in which they were saved. */
  readonly saved: Message[] = [];

  /** Those whose commit wakes relays that listen. */
  readonly notified: string[] = [];
}

/**
 * Messages in memory, for tests and simulations. It rejects the same messages as a database, and loses all
 * of them with the process.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "@holdfast/outbox/testing";
 *
 * const store = new MemoryStore({ order: "businessKey" });
 * console.log(await store.nextDue()); // => undefined
 * ```
 */
export class MemoryStore implements OutboxStore<MemoryTransaction> {
  readonly order: MessageOrder;
  readonly #entries = new Map<string, Entry>();
  /** Those that are neither confirmed nor dead. */
  readonly #open = new Set<Entry>();
  #sequence = 0;
  readonly #tokens = new Map<string, number>();
  readonly #listeners = new Set<(ids: readonly string[]) => void>();

  /** @throws RangeError or TypeError that names the option */
  constructor(options: MemoryStoreOptions = {}) {
    requireOptions("options", options);
    const { order = "none" } = options;
    requireOrder("options.order", order);
    this.order = order;
  }

  /** Runs a function in a transaction: the messages it saves exist once its promise has resolved. */
  async transaction<Value>(work: (tx: MemoryTransaction) => Promise<Value>): Promise<Value> {
    const tx = new MemoryTransaction();
    const value = await work(tx);
    for (const { id } of tx.saved)
      if (this.#entries.has(id)) throw new Error(`message ${id} already exists`);
    for (const message of tx.saved) {
      const entry = { sequence: ++this.#sequence, message, claim: undefined, claims: 0 };
      this.#entries.set(message.id, entry);
      this.#open.add(entry);
    }
    if (tx.notified.length > 0) for (const tell of this.#listeners) tell(tx.notified);
    return value;
  }

  async save(
    tx: MemoryTransaction,
    message: NewMessage,
    now: number,
    options: SaveOptions = {},
  ): Promise<Message> {
    const { message: saved } = pendingMessage(message, now);
    if (this.#entries.has(saved.id) || tx.saved.some(({ id }) => id === saved.id))
      throw new RangeError(`message.id must be new, got ${saved.id}`);
    tx.saved.push(saved);
    if (options.notify === true) tx.notified.push(saved.id);
    return copy(saved);
  }

  async listen(onSaved: (ids: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#listeners.add(onSaved);
    await new Promise<void>((resolve) => onAbort(signal, () => resolve()));
    this.#listeners.delete(onSaved);
  }

  async claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed> {
    const entries = ids.map((id) => this.#entries.get(id)).filter((entry) => entry !== undefined);
    return this.#claim(
      this.#inOrder(entries.filter((entry) => entry.claims === 0 && isWaiting(entry))),
      request,
    );
  }

  async claimDue(request: ClaimRequest, limit: number): Promise<Claimed> {
    const due = [...this.#open].filter(
      (entry) => isWaiting(entry) && dueTimeOf(entry) <= request.now,
    );
    return this.#claim(this.#inOrder(due).sort(byDueTime).slice(0, limit), request);
  }

  async nextDue(): Promise<number | undefined> {
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#inOrder([...this.#open]))
      if (isWaiting(entry)) next = Math.min(next, dueTimeOf(entry));
    return Number.isFinite(next) ? next : undefined;
  }

  async markSuccess(claim: Claim, now: number): Promise<boolean> {
    const entry = this.#entryOf(claim);
    if (entry === undefined) return false;
    const editor = claim.worker;
    this.#set(entry, { status: "success", nextScheduleTime: undefined, editor, editTime: now });
    return true;
  }

  async markFail(claim: Claim, failure: Failure): Promise<boolean> {
    return this.#fail(claim, failure, ({ currentRetryTimes, maxRetryTimes }) => ({
      status: "failed",
      currentRetryTimes: Math.min(currentRetryTimes + 1, maxRetryTimes),
      editor: claim.worker,
    }));
  }

  async release(claim: Claim): Promise<boolean> {
    const entry = this.#entryOf(claim);
    if (entry?.claim === undefined) return false;
    entry.claim = undefined;
    return true;
  }

  async orphans(now: number, limit: number): Promise<Claimed> {
    const claims = [...this.#entries.values()].map(claimOf).filter((claim) => claim !== undefined);
    const ended = claims.filter(({ until }) => until <= now);
    return { claims: ended.sort((a, b) => a.until - b.until).slice(0, limit), broken: [] };
  }

  async releaseOrphan(claim: Claim, lost: Failure, fence: Fence): Promise<boolean> {
    const { name, token } = fence;
    if (token < (this.#tokens.get(name) ?? token)) throw new StaleFenceError(fence);
    this.#tokens.set(name, token);
    return this.#fail(claim, lost, ({ lostAttempts }) => ({
      lostAttempts: lostAttempts + 1,
      editor: name,
    }));
  }

  async replay(request: ReplayRequest): Promise<number> {
    const { editor, now } = request;
    const ids = requireReplay(request);
    const wanted = ids === undefined ? undefined : new Set(ids);
    const dead = [...this.#entries.values()].filter(
      ({ message }) => message.status === "dead" && (wanted?.has(message.id) ?? true),
    );
    const pending = { status: "pending", currentRetryTimes: 0, lostAttempts: 0 } as const;
    const [editTime, nextScheduleTime] = [Math.round(now), Math.round(now)];
    for (const entry of dead) this.#set(entry, { ...pending, nextScheduleTime, editor, editTime });
    return dead.length;
  }

  async find(id: string): Promise<Message | undefined> {
    const entry = this.#entries.get(id.toLowerCase());
    return entry === undefined ? undefined : copy(entry.message);
  }

  async removeConfirmed(before: number, limit: number): Promise<number> {
    const old = [...this.#entries.values()]
      .filter(({ message }) => message.status === "success" && message.editTime < before)
      .sort((a, b) => a.message.editTime - b.message.editTime)
      .slice(0, limit);
    for (const { message } of old) this.#entries.delete(message.id);
    return old.length;
  }

  async backlog(): Promise<Backlog> {
    const { pending, failed, dead } = await this.counts();
    return { pending, failed, dead };
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    const counts = { pending: 0, failed: 0, success: 0, dead: 0 };
    for (const { message } of this.#entries.values()) counts[message.status]++;
    return counts;
  }

  #claim(entries: readonly Entry[], { worker, until }: ClaimRequest): Claimed {
    const claims = entries.map((entry): Claim => {
      entry.claim = { worker, until: Math.round(until) };
      entry.claims++;
      return {
        message: copy(entry.message),
        worker,
        number: entry.claims,
        until: entry.claim.until,
      };
    });
    return { claims, broken: [] };
  }

  #fail(
    claim: Claim,
    { now, error, nextScheduleTime }: Failure,
    count: (message: Message) => Partial<Message>,
  ): boolean {
    const entry = this.#entryOf(claim);
    if (entry?.claim === undefined) return false;
    const dead = nextScheduleTime === undefined ? ({ status: "dead" } as const) : {};
    const change = { ...count(entry.message), ...dead };
    this.#set(entry, { ...change, lastError: error, nextScheduleTime, editTime: now });
    return true;
  }

  /** Those of some entries that the order lets go now. */
  #inOrder(entries: readonly Entry[]): Entry[] {
    if (this.order === "none") return [...entries];
    const first = new Map<string, Entry>();
    for (const entry of [...this.#open].sort(bySequence))
      if (!first.has(keyOf(entry))) first.set(keyOf(entry), entry);
    return entries.filter((entry) => first.get(keyOf(entry)) === entry);
  }

  /** In order, the message that was waiting for this one is due now. */
  #advance(entry: Entry, now: number): void {
    if (this.order === "none") return;
    const [next] = [...this.#open]
      .filter((other) => keyOf(other) === keyOf(entry) && other.sequence > entry.sequence)
      .sort(bySequence);
    if (next?.claims === 0) next.message = { ...next.message, nextScheduleTime: Math.round(now) };
  }

  /** The entry of a claim; undefined if there is a newer claim. */
  #entryOf({ message, number }: Claim): Entry | undefined {
    const entry = this.#entries.get(message.id);
    return entry?.claims === number ? entry : undefined;
  }

  /** Changes a message, and ends its claim. */
  #set(entry: Entry, change: Partial<Message>): void {
    entry.message = { ...entry.message, ...change };
    entry.claim = undefined;
    if (entry.message.nextScheduleTime === undefined) {
      this.#open.delete(entry);
      this.#advance(entry, entry.message.editTime);
    } else this.#open.add(entry);
  }
}
