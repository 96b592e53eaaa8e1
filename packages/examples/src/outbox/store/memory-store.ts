import type { Message, NewMessage } from "../message/message.ts";
import type { MessageStatus } from "../message/message-status.ts";
import { pendingMessage } from "../message/pending-message.ts";
import type { Claim, Claimed } from "./claim.ts";
import { MemoryTransaction } from "./memory-transaction.ts";
import type { ClaimRequest, Failure, Fence, OutboxStore, ReplayRequest } from "./outbox-store.ts";
import { StaleFenceError } from "./stale-fence-error.ts";

/** A message, and who has it. */
interface Entry {
  message: Message;
  claim: { readonly worker: string; readonly until: number } | undefined;
  /** How often it has been claimed. */
  claims: number;
}

/** Messages in memory, for tests and simulations: it forgets them with the process. */
export class MemoryStore implements OutboxStore<MemoryTransaction> {
  readonly #entries = new Map<string, Entry>();
  /** Those that are neither confirmed nor dead: all that there is to do. */
  readonly #open = new Set<Entry>();
  readonly #tokens = new Map<string, number>();

  /** Runs a function in a transaction: what it saves is there once it has returned. */
  async transaction<Value>(work: (tx: MemoryTransaction) => Promise<Value>): Promise<Value> {
    const tx = new MemoryTransaction();
    const value = await work(tx);
    for (const { id } of tx.saved)
      if (this.#entries.has(id)) throw new Error(`there is a message ${id} already`);
    for (const message of tx.saved) {
      const entry: Entry = { message, claim: undefined, claims: 0 };
      this.#entries.set(message.id, entry);
      this.#open.add(entry);
    }
    return value;
  }

  async save(tx: MemoryTransaction, message: NewMessage, now: number): Promise<Message> {
    const saved = copy(pendingMessage(message, now));
    tx.saved.push(saved);
    return saved;
  }

  async claimSaved(ids: readonly string[], request: ClaimRequest): Promise<Claimed> {
    const entries = ids.map((id) => this.#entries.get(id)).filter((entry) => entry !== undefined);
    return this.#claim(
      entries.filter((entry) => entry.claims === 0 && isWaiting(entry)),
      request,
    );
  }

  async claimDue(request: ClaimRequest, limit: number): Promise<Claimed> {
    const due = [...this.#open].filter(
      (entry) => isWaiting(entry) && dueTimeOf(entry) <= request.now,
    );
    return this.#claim(due.sort(byDueTime).slice(0, limit), request);
  }

  async nextDue(): Promise<number | undefined> {
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#open) if (isWaiting(entry)) next = Math.min(next, dueTimeOf(entry));
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
    return this.#fail(claim, failure, claim.worker);
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

  async releaseOrphan(claim: Claim, failure: Failure, fence: Fence): Promise<boolean> {
    const { name, token } = fence;
    if (token < (this.#tokens.get(name) ?? token)) throw new StaleFenceError(fence);
    this.#tokens.set(name, token);
    return this.#fail(claim, failure, name);
  }

  async replay({ ids, editor, now }: ReplayRequest): Promise<number> {
    const wanted = ids === undefined ? undefined : new Set(ids);
    const dead = [...this.#entries.values()].filter(
      ({ message }) => message.status === "dead" && (wanted?.has(message.id) ?? true),
    );
    const pending = { status: "pending", currentRetryTimes: 0 } as const;
    const [editTime, nextScheduleTime] = [Math.round(now), Math.round(now)];
    for (const entry of dead) this.#set(entry, { ...pending, nextScheduleTime, editor, editTime });
    return dead.length;
  }

  async find(id: string): Promise<Message | undefined> {
    const entry = this.#entries.get(id);
    return entry === undefined ? undefined : copy(entry.message);
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

  #fail(claim: Claim, { now, error, nextScheduleTime }: Failure, editor: string): boolean {
    const entry = this.#entryOf(claim);
    if (entry?.claim === undefined) return false;
    const { currentRetryTimes, maxRetryTimes } = entry.message;
    this.#set(entry, {
      status: nextScheduleTime === undefined ? "dead" : "failed",
      currentRetryTimes: Math.min(currentRetryTimes + 1, maxRetryTimes),
      lastError: error,
      ...{ nextScheduleTime, editor, editTime: now },
    });
    return true;
  }

  /** What a claim is of; undefined if there is a newer one. */
  #entryOf({ message, number }: Claim): Entry | undefined {
    const entry = this.#entries.get(message.id);
    return entry?.claims === number ? entry : undefined;
  }

  /** Changes a message, and ends its claim. */
  #set(entry: Entry, change: Partial<Message>): void {
    entry.message = { ...entry.message, ...change };
    entry.claim = undefined;
    if (entry.message.nextScheduleTime === undefined) this.#open.delete(entry);
    else this.#open.add(entry);
  }
}

/** What others have must not change with what is here, and the other way round. */
function copy(message: Message): Message {
  return { ...message, content: JSON.parse(JSON.stringify(message.content)) };
}

function isWaiting({ message, claim }: Entry): boolean {
  return claim === undefined && message.nextScheduleTime !== undefined;
}

function dueTimeOf({ message }: Entry): number {
  return message.nextScheduleTime ?? Number.POSITIVE_INFINITY;
}

function byDueTime(a: Entry, b: Entry): number {
  return dueTimeOf(a) - dueTimeOf(b);
}

function claimOf({ message, claim, claims }: Entry): Claim | undefined {
  return claim === undefined ? undefined : { message: copy(message), ...claim, number: claims };
}
