import { aborted } from "@holdfast/clock";
import { type Deferred, deferred, type Kinds, read } from "@holdfast/kit";
import type { Message, MessageStatus, NewMessage, SavedMessage } from "../message/message.ts";
import {
  type PendingMessage,
  pendingMessage,
  pendingMessages,
  savedMessage,
} from "../message/pending-message.ts";
import { bytesOf } from "../message/stored-payload.ts";
import { type Activity, activityFrom, SLOT } from "../store/activity.ts";
import type { Claim, Claimed } from "../store/claim.ts";
import {
  BACKLOG_LIMIT,
  type Backlog,
  type ClaimFilter,
  type ClaimRequest,
  type DeadLetterPage,
  type DeadLetterSelection,
  type Failure,
  type Fence,
  type MessageOrder,
  messageOrder,
  type OutboxStore,
  type Outcome,
} from "../store/outbox-store.ts";
import { StaleFenceError } from "../store/stale-fence-error.ts";
import { byRank, bySequence, claimOf, copy, dueTimeOf, type Entry, isWaiting } from "./entry.ts";

export const MEMORY_STORE_OPTIONS: Kinds<MemoryStoreOptions> = { order: messageOrder };

/** Options for {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The order of messages of one key.
   *
   * @defaultValue `"none"`
   */
  readonly order?: MessageOrder | undefined;
}

/** A key that is taken until an instant, for a message if it is that of one. */
interface Taken {
  readonly id: string | undefined;
  readonly until: number;
}

/** What a transaction of a {@link MemoryStore} changes when it commits. */
export class MemoryTransaction {
  /** In the order in which they were saved. */
  readonly saved: Message[] = [];
  /** @internal */
  readonly cancelled: Entry[] = [];
  /** @internal */
  readonly taken: Map<string, Taken> = new Map();
  /** @internal */
  readonly ended: Deferred<void> = deferred();
  /** @internal */
  waitsFor: MemoryTransaction | undefined;
}

/**
 * Messages in memory, for tests and simulations. It rejects the same messages as a database, and loses all
 * of them with the process.
 *
 * @example
 * ```ts
 * import { MemoryStore } from "@holdfast/outbox/testing";
 *
 * const store = new MemoryStore({ order: "key" });
 * console.log(await store.nextDue()); // => undefined
 * ```
 */
export class MemoryStore implements OutboxStore<MemoryTransaction> {
  readonly order: MessageOrder;
  readonly #entries = new Map<string, Entry>();
  /** Those that are neither delivered nor dead. */
  readonly #open = new Set<Entry>();
  #sequence = 0;
  readonly #tokens = new Map<string, number>();
  readonly #taken = new Map<string, Taken>();
  /** The transactions that have ids and keys which others wait for. */
  readonly #locks = new Map<string, MemoryTransaction>();
  readonly #listeners = new Set<() => void>();
  readonly #paused = new Set<string>();

  /** @throws RangeError or TypeError that names the option */
  constructor(options: MemoryStoreOptions = {}) {
    const { order = "none" } = read("options", options, "MemoryStore", MEMORY_STORE_OPTIONS);
    this.order = order;
  }

  /** Runs a function in a transaction: the messages it saves exist once its promise has resolved. */
  async transaction<Value>(work: (tx: MemoryTransaction) => Promise<Value>): Promise<Value> {
    const tx = new MemoryTransaction();
    try {
      const value = await work(tx);
      this.#commit(tx);
      return value;
    } finally {
      for (const entry of tx.cancelled) entry.claim = undefined;
      for (const [name, holder] of this.#locks) if (holder === tx) this.#locks.delete(name);
      tx.ended.resolve();
    }
  }

  #commit(tx: MemoryTransaction): void {
    for (const [key, taken] of tx.taken) this.#taken.set(key, taken);
    for (const entry of tx.cancelled) {
      const { id } = entry.message;
      this.#entries.delete(id);
      this.#open.delete(entry);
      for (const [key, taken] of this.#taken) if (taken.id === id) this.#taken.delete(key);
    }
    for (const message of tx.saved) {
      const entry = { sequence: ++this.#sequence, message, claim: undefined, claims: 0 };
      this.#entries.set(message.id, entry);
      this.#open.add(entry);
    }
  }

  async save(tx: MemoryTransaction, message: NewMessage, now: number): Promise<SavedMessage> {
    return await this.#save(tx, pendingMessage(message, now));
  }

  async saveAll(
    tx: MemoryTransaction,
    messages: readonly NewMessage[],
    now: number,
  ): Promise<readonly SavedMessage[]> {
    const saved: SavedMessage[] = [];
    for (const pending of pendingMessages(messages, now)) saved.push(await this.#save(tx, pending));
    return saved;
  }

  async #save(tx: MemoryTransaction, pending: PendingMessage): Promise<SavedMessage> {
    const { message, unique } = pending;
    const { id, createdAt } = message;
    let holder: string | undefined;
    if (unique !== undefined) {
      const until = createdAt + unique.within;
      const name = `message ${unique.key}`;
      holder = (await this.#take(tx, name, createdAt, { id, until })).id ?? id;
    }
    await this.#lock(tx, `id ${id}`);
    const isThere = this.#entries.has(id) || tx.saved.some((other) => other.id === id);
    const isNew = !isThere && (holder === undefined || holder === id);
    if (isNew) tx.saved.push(copy(message));
    return savedMessage(pending, isNew, holder);
  }

  async cancel(id: string, tx?: MemoryTransaction): Promise<boolean> {
    if (tx === undefined) return await this.transaction((own) => this.cancel(id, own));
    const place = tx.saved.findIndex((message) => message.id === id);
    const isOwn = place >= 0;
    if (isOwn) {
      tx.saved.splice(place, 1);
      for (const [key, taken] of tx.taken) if (taken.id === id) tx.taken.delete(key);
    }
    const entry = this.#entries.get(id);
    if (isOwn || entry === undefined || !isWaiting(entry) || entry.claims > 0) return isOwn;
    // No relay claims it until the transaction has ended.
    entry.claim = { relay: "cancel", until: Number.POSITIVE_INFINITY };
    tx.cancelled.push(entry);
    return true;
  }

  async takeOnce(tx: MemoryTransaction, key: string, now: number, keep: number): Promise<boolean> {
    const own = { id: undefined, until: now + keep };
    return (await this.#take(tx, `inbox ${key}`, now, own)) === own;
  }

  async removeOnce(now: number, limit: number): Promise<number> {
    const over = [...this.#taken].filter(([, { until }]) => until <= now).slice(0, limit);
    for (const [key] of over) this.#taken.delete(key);
    return over.length;
  }

  /** Takes a key if it is free, and tells who has it then. */
  async #take(tx: MemoryTransaction, key: string, now: number, own: Taken): Promise<Taken> {
    await this.#lock(tx, key);
    const held = tx.taken.get(key) ?? this.#taken.get(key);
    if (held !== undefined && held.until > now) return held;
    tx.taken.set(key, own);
    return own;
  }

  /** Waits for other transactions that have saved an id or taken a key. */
  async #lock(tx: MemoryTransaction, name: string): Promise<void> {
    for (let holder = this.#locks.get(name); holder !== undefined && holder !== tx; ) {
      for (let next = holder.waitsFor; next !== undefined; next = next.waitsFor)
        if (next === tx)
          throw new Error(`deadlock: a transaction that waits for this one has the ${name}`);
      tx.waitsFor = holder;
      await holder.ended.promise;
      tx.waitsFor = undefined;
      holder = this.#locks.get(name);
    }
    this.#locks.set(name, tx);
  }

  async notify(): Promise<void> {
    for (const listener of this.#listeners) listener();
  }

  async listen(onNotify: () => void, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#listeners.add(onNotify);
    await aborted(signal);
    this.#listeners.delete(onNotify);
  }

  async pause(topic: string): Promise<boolean> {
    const isNew = !this.#paused.has(topic);
    this.#paused.add(topic);
    return isNew;
  }

  async resume(topic: string): Promise<boolean> {
    return this.#paused.delete(topic);
  }

  async pausedTopics(): Promise<readonly string[]> {
    return [...this.#paused].sort();
  }

  async claim(request: ClaimRequest): Promise<Claimed> {
    const { relay, now, until, limit, maxBytes = Number.POSITIVE_INFINITY } = request;
    const due = [...this.#open].filter((entry) => isWaiting(entry) && dueTimeOf(entry) <= now);
    const found = this.#inOrder(due).filter(({ message }) => isSelected(message, request));
    let bytes = 0;
    const claims: Claim[] = [];
    for (const entry of found.sort(byRank).slice(0, limit)) {
      const message = copy(entry.message);
      bytes += bytesOf(message);
      if (claims.length > 0 && bytes > maxBytes) break;
      entry.claim = { relay, until: Math.round(until) };
      entry.claims++;
      claims.push({ message, ...entry.claim, number: entry.claims });
    }
    return { claims, invalid: [] };
  }

  async nextDue(_?: AbortSignal, filter: ClaimFilter = {}): Promise<number | undefined> {
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#inOrder([...this.#open]))
      if (isWaiting(entry) && isSelected(entry.message, filter))
        next = Math.min(next, dueTimeOf(entry));
    return Number.isFinite(next) ? next : undefined;
  }

  async write(outcomes: readonly Outcome[]): Promise<readonly boolean[]> {
    return outcomes.map((outcome) => this.#write(outcome));
  }

  async expired(now: number, limit: number): Promise<Claimed> {
    const claims = [...this.#entries.values()].map(claimOf).filter((claim) => claim !== undefined);
    const expired = claims.filter(({ until }) => until <= now);
    return { claims: expired.sort((a, b) => a.until - b.until).slice(0, limit), invalid: [] };
  }

  async recover(claim: Claim, failure: Failure, fence: Fence): Promise<boolean> {
    const { name, token } = fence;
    if (token < (this.#tokens.get(name) ?? token)) throw new StaleFenceError(fence);
    this.#tokens.set(name, token);
    return this.#fail(claim, failure, ({ expiredClaims }) => ({
      expiredClaims: expiredClaims + 1,
    }));
  }

  async deadLetters({ topic, after, limit }: DeadLetterPage): Promise<readonly Message[]> {
    return [...this.#entries.values()]
      .map(({ message }) => message)
      .filter(({ status }) => status === "dead")
      .filter((message) => topic === undefined || message.topic === topic)
      .filter((message) => after === undefined || byDeath(message, after) > 0)
      .sort(byDeath)
      .slice(0, limit)
      .map(copy);
  }

  async replay(selection: DeadLetterSelection, now: number): Promise<number> {
    const dead = this.#selected(selection);
    const attempts = { failedAttempts: 0, expiredClaims: 0, expiresAt: undefined };
    const pending = { status: "pending", ...attempts } as const;
    for (const entry of dead) this.#set(entry, { ...pending, dueAt: now, updatedAt: now });
    return dead.length;
  }

  async discard(selection: DeadLetterSelection): Promise<number> {
    const dead = this.#selected(selection);
    for (const { message } of dead) this.#entries.delete(message.id);
    return dead.length;
  }

  async removeDelivered(before: number, limit: number): Promise<number> {
    const old = [...this.#entries.values()]
      .filter(({ message }) => message.status === "delivered" && message.updatedAt < before)
      .sort((a, b) => a.message.updatedAt - b.message.updatedAt)
      .slice(0, limit);
    for (const { message } of old) this.#entries.delete(message.id);
    return old.length;
  }

  async find(id: string): Promise<Message | undefined> {
    const entry = this.#entries.get(id.toLowerCase());
    return entry === undefined ? undefined : copy(entry.message);
  }

  async backlog(): Promise<Backlog> {
    const { pending, retrying, dead } = await this.counts();
    const limited = (count: number): number => Math.min(count, BACKLOG_LIMIT);
    return { pending: limited(pending), retrying: limited(retrying), dead: limited(dead) };
  }

  async oldest(): Promise<number | undefined> {
    const instants = [...this.#open].map(({ message }) => message.createdAt);
    return instants.length === 0
      ? undefined
      : instants.reduce((one, other) => Math.min(one, other));
  }

  async activity(since: number): Promise<readonly Activity[]> {
    const rows = new Map<string, { messages: number; oldest: number }>();
    for (const { message } of this.#entries.values()) {
      const { status, topic, updatedAt, createdAt } = message;
      if (status === "delivered" && updatedAt < since) continue;
      const slot = updatedAt < since ? undefined : Math.floor(updatedAt / SLOT) * SLOT;
      const name = JSON.stringify({ status, topic, slot });
      const { messages, oldest } = rows.get(name) ?? { messages: 0, oldest: createdAt };
      rows.set(name, { messages: messages + 1, oldest: Math.min(oldest, createdAt) });
    }
    return activityFrom([...rows].map(([name, counted]) => ({ ...JSON.parse(name), ...counted })));
  }

  async counts(): Promise<Readonly<Record<MessageStatus, number>>> {
    const counts = { pending: 0, retrying: 0, delivered: 0, dead: 0 };
    for (const { message } of this.#entries.values()) counts[message.status]++;
    return counts;
  }

  #write(outcome: Outcome): boolean {
    const { type, claim } = outcome;
    const entry = this.#entryOf(claim);
    if (type === "failed")
      return this.#fail(claim, outcome.failure, ({ failedAttempts, maxAttempts }) => ({
        status: "retrying",
        failedAttempts: Math.min(failedAttempts + 1, maxAttempts),
      }));
    if (entry === undefined || (type === "released" && entry.claim === undefined)) return false;
    if (type === "released") entry.claim = undefined;
    else
      this.#set(entry, {
        status: "delivered",
        dueAt: undefined,
        updatedAt: outcome.now,
      });
    return true;
  }

  #fail(
    claim: Claim,
    { now, error, dueAt }: Failure,
    count: (message: Message) => Partial<Message>,
  ): boolean {
    const entry = this.#entryOf(claim);
    if (entry?.claim === undefined) return false;
    const dead = dueAt === undefined ? ({ status: "dead" } as const) : {};
    const change = { ...count(entry.message), ...dead };
    this.#set(entry, { ...change, lastError: error, dueAt, updatedAt: now });
    return true;
  }

  #selected(selection: DeadLetterSelection): Entry[] {
    const ids = selection !== "all" && "ids" in selection ? new Set(selection.ids) : undefined;
    const topic = selection !== "all" && "topic" in selection ? selection.topic : undefined;
    return [...this.#entries.values()].filter(
      ({ message }) =>
        message.status === "dead" &&
        (ids === undefined || ids.has(message.id)) &&
        (topic === undefined || topic === message.topic),
    );
  }

  /** Those of some entries that the order allows now. */
  #inOrder(entries: readonly Entry[]): Entry[] {
    if (this.order === "none") return [...entries];
    const first = new Map<string, Entry>();
    for (const entry of [...this.#open].sort(bySequence))
      if (!first.has(entry.message.key)) first.set(entry.message.key, entry);
    return entries.filter((entry) => first.get(entry.message.key) === entry);
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
    if (entry.message.dueAt === undefined) this.#open.delete(entry);
    else this.#open.add(entry);
  }
}

function byDeath(
  a: Pick<Message, "id" | "updatedAt">,
  b: Pick<Message, "id" | "updatedAt">,
): number {
  return a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function isSelected(
  { topic, expiredClaims }: Message,
  { topics, exceptTopics = [], hasExpired }: ClaimFilter,
): boolean {
  if (topics?.includes(topic) === false || exceptTopics.includes(topic)) return false;
  return hasExpired === undefined || hasExpired === expiredClaims > 0;
}
