import { aborted, LinkedController, onAbort } from "@holdfast/clock";
import {
  holdOpen,
  isStop,
  messageOf,
  requireFunction,
  requireHooks,
  requireMethods,
  withoutNumbers,
} from "@holdfast/kit";
import { jitter } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import { ElectorHooks } from "../election/elector-hooks.ts";
import { leadershipOf, leadTerm, releaseLease, type TermContext } from "../election/lead-term.ts";
import { elapsedSince, type Grant, Lease } from "../election/lease.ts";
import { Term } from "../election/term.ts";
import type { KeyShards, SlotLeadership } from "../key-shards.ts";
import { type RunOptions, resolveRun } from "../run-options.ts";
import { type LockRequest, NamedLease } from "./named-lease.ts";
import { decideShards, type SlotState, type SlotView } from "./shard-decision.ts";
import { type ResolvedShardsOptions, resolveShards, type ShardsOptions } from "./shards-options.ts";
import type { FailingLock, ShardsStatus } from "./shards-status.ts";
import { slotOf } from "./slot-of.ts";

/** Maximum share of the retry period that is added at random between two looks at all slots. */
const JITTER = 0.2;

/** For how many leases a slot is not asked for again that was not given up. */
const DEAF_LEASES = 4;

/** One slot: its leases, and the term of this process. */
interface Slot {
  readonly number: number;
  readonly lease: NamedLease;
  /** Whoever asks for the slot holds this one. */
  readonly wish: NamedLease;
  term: Term | undefined;
  /** Instant at which this process began to ask for it. */
  askedAt: number;
  /** Until when this process does not ask for it: it has asked in vain. */
  deafUntil: number;
  /** Instant at which it was first seen without a holder. */
  freeSince: number | undefined;
  /** Until when this process leaves it to others: its work has ended by itself. */
  restsUntil: number;
}

/**
 * Divides keys over all replicas of a program: `count` slots, each with a lease that one process holds at a time, and
 * every process works on its slots. Replicas come and go; nothing else decides.
 *
 * | Event | Reaction |
 * | --- | --- |
 * | a slot is free, or its lease was not renewed for the duration it states | a process with less than its share takes it, and calls `lead` |
 * | a replica has less than its share | it asks the one with the most slots, which gives one up: aborts its `signal`, waits for `lead`, releases the lease |
 * | the signal of {@link Shards.run} aborts | the same for all slots |
 * | a process stands still, or cannot reach the locks | `lost` aborts at the renew deadline; others take its slots when the leases run out |
 * | one lock rejects, or does not answer | its slot is left alone and tried again at each look; `status().failing` names it; the other slots go on. While `"count"` fails, a process that holds a slot takes free ones, and no slot is asked for or given up |
 * | the work of a slot ignores its signal for a lease | `status().stuck` and a warning name the slot; other slots are given up meanwhile |
 *
 * All that a `LeaderElector` promises holds for a slot: one holder at any time, provided that `lead` ends within
 * `leaseDuration` minus `renewDeadline` after `lost` has aborted; growing tokens; renewal while the work stops. Shares
 * differ by at most one, and nothing moves while no replica comes or goes. A slot of a crashed replica is free for at
 * most one lease and two retry periods.
 *
 * Each look reads up to two locks per slot: in one request if the locks can be listed, as those of databases and of
 * Kubernetes can, otherwise in one for each.
 *
 * The work of the slots is the option `lead`, or that of the controllers that run with the shards:
 * `controller.run(signal, { shards })` reconciles the keys of the slots that are held. Run both, for example in a `Manager`.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { MemoryLock, Shards } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const locks = new Map<string, MemoryLock>();
 * const lockOf = (name: string) => {
 *   const lock = locks.get(name) ?? new MemoryLock();
 *   locks.set(name, lock);
 *   return lock;
 * };
 * const replica = (identity: string) => new Shards({
 *   count: 4, identity, lockOf, clock, random: () => 0,
 *   lead: async ({ signal }) => await clock.sleep(Infinity, { signal }),
 * });
 * const [a, b] = [replica("a"), replica("b")];
 * const stop = new AbortController();
 * const running = [a.run(stop.signal)];
 * await clock.step(10_000);
 * console.log(a.status().held.length); // => 4
 * running.push(b.run(stop.signal));
 * await clock.step(60_000);
 * console.log(a.status().held.length, b.status().held.length); // => 2 2
 * stop.abort();
 * await Promise.all(running);
 * ```
 */
export class Shards implements KeyShards {
  /** Name, so that a `Manager` accepts it as a runnable. */
  readonly name: string;
  readonly #options: ResolvedShardsOptions;
  readonly #hooks: ElectorHooks;
  readonly #slots: readonly Slot[];
  /** Its holder is the number of slots: whoever has another number stays out while it is held. */
  readonly #count: NamedLease;
  /** The last write of that number. */
  #agreement: Grant | undefined;
  /** The slot that this process has asked for. */
  #wanted: Slot | undefined;
  readonly #leads = new Set<(leadership: SlotLeadership) => unknown>();
  /** One for each term: begins work that joins during it. */
  readonly #joins = new Set<(lead: (leadership: SlotLeadership) => unknown) => void>();
  #taken = 0;
  #answeredAt: number | undefined;
  /** Terms until their leases are released or lost, and requests that no look waits for. */
  readonly #pending = new Set<Promise<unknown>>();
  #isRunning = false;

  /**
   * @param options - see {@link ShardsOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: ShardsOptions) {
    this.#options = resolveShards(options);
    const { name, count, identity } = this.#options;
    this.name = name;
    this.#hooks = new ElectorHooks({ ...this.#options, lock: { description: name } });
    this.#count = this.#leaseOf("count", String(count));
    this.#slots = Array.from({ length: count }, (_, number) => ({
      number,
      lease: this.#leaseOf(`slot-${number}`, identity),
      wish: this.#leaseOf(`wish-${number}`, identity),
      term: undefined,
      askedAt: 0,
      deafUntil: Number.NEGATIVE_INFINITY,
      freeSince: undefined,
      restsUntil: Number.NEGATIVE_INFINITY,
    }));
  }

  /** State for a health endpoint, as plain data. */
  status(): ShardsStatus {
    const { identity, count, clock } = this.#options;
    const now = clock.monotonic();
    const holders = this.#slots.map((slot) => this.#holderOf(slot));
    const numbersOf = (has: (slot: Slot) => boolean) =>
      this.#slots.filter(has).map(({ number }) => number);
    return {
      identity,
      count,
      held: numbersOf(({ term }) => term?.holdsLease === true),
      giving: numbersOf(({ term }) => term?.holdsLease === true && term.state !== "leading"),
      stuck: numbersOf((slot) => this.#isStuck(slot)),
      wanted: this.#wanted?.number,
      free: numbersOf(({ number }) => holders[number] === undefined),
      holders,
      taken: this.#taken,
      sinceAnswer: this.#answeredAt === undefined ? undefined : now - this.#answeredAt,
      overdue: Math.max(0, ...this.#slots.map(({ term }) => now - (term?.leaseEnd ?? now))),
      failing: this.#failing,
      lastError: this.#failing[0]?.error ?? this.#hooks.lockError,
    };
  }

  /** The slot of a key: `slotOf(key, count)`. */
  slotOf(key: string): number {
    return slotOf(key, this.#options.count);
  }

  /**
   * Has `lead` called for each slot that this process holds and will hold. A controller that runs with these shards does
   * so; call it for work that is no controller.
   *
   * @param lead - as the option `lead`. The slot is held until it settles, and until its term has ended
   * @returns ends the calls, not those that run
   * @throws TypeError if `lead` is not a function, Error if the shards have an option `lead`
   */
  join(lead: (leadership: SlotLeadership) => unknown): Disposable {
    requireFunction("lead", lead);
    if (this.#options.lead !== undefined)
      throw new Error("shards with options.lead do that work alone: leave it out, and join");
    this.#leads.add(lead);
    for (const begin of this.#joins) begin(lead);
    return { [Symbol.dispose]: () => void this.#leads.delete(lead) };
  }

  /**
   * Takes slots and works on them until `signal` aborts.
   *
   * @param signal - stops: the signals of all terms abort with the same reason
   * @param options - see {@link RunOptions}
   * @returns a promise that resolves when the work of all slots has settled and they are released. No timer and no
   * listener is left. It rejects with an error of `lead` if there is no `onError`, with a RangeError if the other
   * replicas have another count of slots, with an Error if it is already running, and with a TypeError for a bad
   * argument
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    const { ref, stopWithin } = resolveRun(signal, options);
    if (this.#isRunning) throw new Error("shards are already running");
    this.#isRunning = true;
    const { clock, retryPeriod, random } = this.#options;
    const hold = ref ? holdOpen(clock) : undefined;
    using running = new LinkedController(signal);
    this.#hooks.begin({ signal, stopWithin }, (reason) => running.abort(reason));
    try {
      await loop({
        run: () => this.#look(running.signal),
        delay: () => jitter(retryPeriod, JITTER, random),
        signal: running.signal,
        clock,
        onError: (error) => this.#hooks.lockFailed(error),
      });
      this.#ask(undefined, running.signal);
      while (this.#pending.size > 0) await Promise.all(this.#pending);
    } finally {
      hold?.[Symbol.dispose]();
      this.#isRunning = false;
    }
    this.#hooks.throwFailure();
  }

  /** Looks at all slots, and does what is to do. A lock that fails costs its own slot alone. */
  async #look(signal: AbortSignal): Promise<void> {
    const agrees = await this.#agree(signal);
    if (agrees || this.#agreedOnce) {
      await this.#read(signal);
      if (!signal.aborted) await this.#act(signal, agrees);
    }
    if (!signal.aborted) this.#report();
  }

  /**
   * Whether this process has agreed on the number of slots, and holds one since: then a change of the number, which stops
   * all processes, cannot have happened unseen. It takes free slots, so that those of a process that has died are not
   * left to one with another number, and gives none up to such a process.
   */
  get #agreedOnce(): boolean {
    return this.#agreement !== undefined && this.#slots.some(({ term }) => term?.holdsLease);
  }

  /** Takes slots, and gives up and asks for some if all agree on their number, by what was read. */
  async #act(signal: AbortSignal, agrees: boolean): Promise<void> {
    const { identity, retryPeriod } = this.#options;
    const { take, give, ask } = decideShards({
      identity,
      slots: this.#slots.map((slot) => this.#viewOf(slot)),
      isGiving: this.#slots.some((slot) => isGiving(slot) && !this.#isStuck(slot)),
      patience: 2 * retryPeriod,
    });
    if (agrees && give !== undefined) {
      const reason = new DOMException("another replica has asked for the slot", "AbortError");
      this.#slots[give]?.term?.stop(reason);
    }
    const taken = take.map((number) => this.#slots[number] as Slot);
    await Promise.all(
      taken.map((slot) => this.#try(slot.lease, "write", () => this.#take(slot, signal), signal)),
    );
    const before = this.#wanted;
    this.#ask(!agrees || ask === undefined ? undefined : this.#slots[ask], signal);
    // A request that stands was renewed with the reads.
    if (this.#wanted !== undefined && this.#wanted !== before)
      await this.#renewWish(this.#wanted, signal);
  }

  /** Sends requests to a lock. Resolves when they have ended, and at once if the lock did not answer before. */
  #try<Value>(
    lease: NamedLease,
    request: LockRequest,
    work: () => Promise<Value>,
    signal: AbortSignal,
  ): Promise<{ readonly value: Value } | undefined> {
    const { isHanging } = lease;
    const attempt = this.#keep(lease.attempt(request, work, signal));
    return isHanging ? Promise.resolve(undefined) : attempt;
  }

  /** Keeps a promise that never rejects, until it settles: {@link Shards.run} ends after it. */
  #keep<Value>(promise: Promise<Value>): Promise<Value> {
    this.#pending.add(promise);
    return promise.finally(() => this.#pending.delete(promise));
  }

  /** Reads the locks of all slots but the own ones. */
  async #read(signal: AbortSignal): Promise<void> {
    const wanted = this.#wanted;
    const others = this.#slots
      .flatMap((slot) => [
        ...(slot.term === undefined ? [slot.lease] : []),
        ...(slot === wanted ? [] : [slot.wish]),
      ])
      .filter((lease) => !lease.isBusy);
    const read = (lease: NamedLease) =>
      this.#try(lease, "read", () => lease.lease.read(signal), signal);
    const readAll = async (leases: readonly NamedLease[]): Promise<void> => {
      if (!(await this.#list(leases, signal))) await Promise.all(leases.map(read));
    };
    const works = (lease: NamedLease): boolean => lease.failed !== "read";
    const renewal = wanted === undefined ? [] : [this.#renewWish(wanted, signal)];
    const failing = others.filter((lease) => !works(lease));
    await Promise.all([readAll(others.filter(works)), ...failing.map(read), ...renewal]);
    if (this.#slots.some(({ lease, wish, term }) => works(wish) || (!term && works(lease))))
      this.#answeredAt = this.#options.clock.monotonic();
  }

  /** Whether all were read in one request. If it fails, one record may be the reason: then each is read alone. */
  async #list(leases: readonly NamedLease[], signal: AbortSignal): Promise<boolean> {
    const onError = (error: unknown): void => {
      if (signal.aborted) throw error;
      const locks = leases.map(({ name }) => name);
      this.#hooks.lockFailed(error, locks, "list");
    };
    const all = leases.map(({ lease }) => lease);
    const listed = await Lease.list(all, { signal, onError });
    for (const [at, one] of (listed ?? []).entries()) {
      if ("error" in one) leases[at]?.fail("read", one.error);
      else leases[at]?.answered("read");
    }
    return listed !== undefined;
  }

  /** Reports new failures: locks that fail for the same reason together. */
  #report(): void {
    const failures = new Map<string, { readonly error: unknown; readonly locks: string[] }>();
    for (const lease of this.#leases) {
      const failure = lease.takeUnreported();
      if (failure === undefined) continue;
      const reason = withoutNumbers(messageOf(failure.error));
      const known = failures.get(reason) ?? { error: failure.error, locks: [] };
      failures.set(reason, known);
      known.locks.push(lease.name);
    }
    for (const { error, locks } of failures.values()) this.#hooks.lockFailed(error, locks);
    if (this.#failing.length === 0) this.#hooks.lockAnswered();
    for (const { number, term } of this.#slots.filter((slot) => this.#isStuck(slot)))
      this.#hooks.warn("the work of a slot has ignored its signal for a lease", `slot ${number}`, {
        slot: number,
        stoppingFor: this.#options.clock.monotonic() - (term?.stopRequestedAt ?? 0),
      });
  }

  get #leases(): readonly NamedLease[] {
    return [this.#count, ...this.#slots.flatMap(({ lease, wish }) => [lease, wish])];
  }

  get #failing(): readonly FailingLock[] {
    return this.#leases.flatMap(({ name: lock, failed, error }) =>
      failed === undefined ? [] : [{ lock, error }],
    );
  }

  /** Whether the work of an own slot has ignored its signal for a lease. */
  #isStuck({ term }: Slot): boolean {
    const { clock, leaseDuration } = this.#options;
    const since = term?.state === "finished" ? undefined : term?.stopRequestedAt;
    return since !== undefined && clock.monotonic() - since >= leaseDuration;
  }

  /** Whether all replicas have the same number of slots: with two numbers a key would have two slots. */
  async #agree(signal: AbortSignal): Promise<boolean> {
    const { clock, leaseDuration, renewDeadline } = this.#options;
    const age = (): number =>
      this.#agreement === undefined ? Infinity : elapsedSince(this.#agreement, clock);
    if (age() >= leaseDuration / 3)
      await this.#try(this.#count, "write", () => this.#agreeAgain(signal), signal);
    return age() < renewDeadline;
  }

  async #agreeAgain(signal: AbortSignal): Promise<void> {
    const { lease } = this.#count;
    const before = lease.seenAt;
    this.#agreement = (await lease.acquire(signal)) ?? this.#agreement;
    const { count } = this.#options;
    if (lease.holder === undefined || lease.holder === String(count) || lease.isFree) return;
    this.#agreement = undefined;
    // The record of replicas that have stopped runs out. That of replicas that run changes.
    if (before === undefined || before === lease.seenAt) return;
    const text = `options.count must be ${lease.holder}, as in the replicas that run, got ${count}`;
    void this.#hooks.failed(new RangeError(text));
  }

  async #take(slot: Slot, signal: AbortSignal): Promise<void> {
    const { clock, renewDeadline } = this.#options;
    const { lease } = slot.lease;
    let grant: Grant | undefined;
    try {
      grant = await lease.acquire(signal);
    } finally {
      // The write may have happened, or may still happen.
      const isLate = grant !== undefined && elapsedSince(grant, clock) >= renewDeadline;
      if (lease.mayHold && (signal.aborted || isLate)) {
        grant = undefined;
        await releaseLease(this.#contextOf(slot.lease));
      }
    }
    if (grant !== undefined) void this.#keep(this.#lead(slot, grant, signal));
  }

  /** One term of a slot, until its lease is released or lost. */
  async #lead(slot: Slot, grant: Grant, signal: AbortSignal): Promise<void> {
    const { clock, renewDeadline, leaseDuration } = this.#options;
    const term = new Term({ clock, grant, renewDeadline, leaseDuration });
    const subscription = onAbort(signal, (reason) => term.stop(reason));
    slot.term = term;
    this.#taken++;
    slot.freeSince = undefined;
    const context = this.#contextOf(slot.lease);
    let hasEndedByItself = false;
    const lead: TermContext["lead"] = async (leadership) => {
      try {
        await this.#work(Object.assign(leadershipOf(leadership), { slot: slot.number }));
      } finally {
        hasEndedByItself = term.stopRequestedAt === undefined;
      }
    };
    await leadTerm(term, { ...context, lead });
    subscription[Symbol.dispose]();
    if (!term.lost.aborted) await releaseLease(context);
    if (hasEndedByItself) slot.restsUntil = clock.monotonic() + leaseDuration;
    slot.term = undefined;
  }

  /** The work of a term: that of the option, or of all who have joined, also during the term. */
  async #work(leadership: SlotLeadership): Promise<void> {
    const { lead } = this.#options;
    if (lead !== undefined) {
      await lead(leadership);
      return;
    }
    const { signal, lost } = leadership;
    const works = [aborted(signal)];
    const workOf = async (joined: (leadership: SlotLeadership) => unknown): Promise<void> => {
      try {
        await joined(leadership);
      } catch (error) {
        if (!isStop(error, signal) && !isStop(error, lost)) void this.#hooks.failed(error);
      }
    };
    const begin = (joined: (leadership: SlotLeadership) => unknown): void =>
      void works.push(workOf(joined));
    for (const joined of this.#leads) begin(joined);
    this.#joins.add(begin);
    // The list may grow meanwhile.
    for (const work of works) await work;
    this.#joins.delete(begin);
  }

  /** Asks for a slot from now on, and no longer for the one before. */
  #ask(slot: Slot | undefined, signal: AbortSignal): void {
    const before = this.#wanted;
    if (slot === before) return;
    this.#wanted = undefined;
    if (before !== undefined) {
      const { wish } = before;
      void this.#keep(wish.alone(() => releaseLease(this.#contextOf(wish))));
    }
    if (slot === undefined || signal.aborted) return;
    slot.askedAt = this.#options.clock.monotonic();
    this.#wanted = slot;
  }

  async #renewWish(slot: Slot, signal: AbortSignal): Promise<void> {
    const { lease } = slot.wish;
    const answer = await this.#try(slot.wish, "write", () => lease.acquire(signal), signal);
    // Undefined: another process has asked for it.
    const isRefused = answer !== undefined && answer.value === undefined;
    if (isRefused && this.#wanted === slot) this.#wanted = undefined;
  }

  #viewOf(slot: Slot): SlotView {
    const { identity, clock, leaseDuration } = this.#options;
    const holder = this.#holderOf(slot);
    const now = clock.monotonic();
    const isWanted = slot === this.#wanted;
    slot.freeSince = holder === undefined ? (slot.freeSince ?? now) : undefined;
    if (isWanted && now - slot.askedAt >= leaseDuration)
      slot.deafUntil = now + DEAF_LEASES * leaseDuration;
    const { wish } = slot;
    return {
      holder,
      wanter: isWanted ? identity : wanterOf(wish),
      freeFor: slot.freeSince === undefined ? 0 : now - slot.freeSince,
      state: this.#stateOf(slot, holder),
      isAskable: wish.failed === undefined && !wish.isBusy && slot.deafUntil <= now,
    };
  }

  #stateOf(slot: Slot, holder: string | undefined): SlotState {
    if (slot.term !== undefined) return isGiving(slot) ? "giving" : "usable";
    const { lease, restsUntil } = slot;
    const isResting = restsUntil > this.#options.clock.monotonic();
    if (lease.failed === "read" || lease.isBusy || isResting) return "unusable";
    return lease.failed === "write" && holder === undefined ? "doubtful" : "usable";
  }

  #holderOf({ term, lease: { lease } }: Slot): string | undefined {
    if (term !== undefined) return this.#options.identity;
    return lease.isFree ? undefined : lease.holder;
  }

  #contextOf(named: NamedLease): Omit<TermContext, "lead"> {
    const { renewDeadline, retryPeriod, clock } = this.#options;
    const hooks = this.#hooks;
    return {
      lease: named.lease,
      renewDeadline,
      retryPeriod,
      clock,
      hooks: {
        stopWithin: () => hooks.stopWithin(),
        log: (level, message, details) =>
          hooks.log(level, message, { lock: named.name, ...details }),
        failed: (error) => hooks.failed(error),
        lockAnswered: () => named.answered("write"),
        lockFailed: (error) => {
          named.fail("write", error);
          named.takeUnreported();
          hooks.lockFailed(error, [named.name]);
        },
      },
    };
  }

  #leaseOf(name: string, identity: string): NamedLease {
    const { lockOf, leaseDuration, renewDeadline, clock } = this.#options;
    const requestTimeout = renewDeadline / 2;
    const lock = lockOf(name);
    const returned = `the lock of options.lockOf(${JSON.stringify(name)})`;
    requireMethods(returned, lock, ["get", "create", "update"]);
    requireHooks(returned, { list: lock.list });
    const options = { lock, identity, leaseDuration, requestTimeout, clock, onHolder: () => {} };
    return new NamedLease(name, new Lease(options));
  }
}

/** Whether the work of an own slot was asked to end. */
function isGiving({ term }: Slot): boolean {
  return term !== undefined && term.state !== "leading";
}

/** Who asks for a slot; undefined also if that cannot be read. */
function wanterOf({ failed, lease }: NamedLease): string | undefined {
  return failed !== undefined || lease.isFree ? undefined : lease.holder;
}
