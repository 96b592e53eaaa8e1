import { LinkedController, onAbort } from "@holdfast/clock";
import { CAMPAIGN_JITTER, deferred, holdOpen } from "@holdfast/kit";
import { jitter } from "@holdfast/wait";
import { loop } from "@holdfast/wait/loop";
import { type RunOptions, resolveRun } from "../run-options.ts";
import { ElectorHooks } from "./elector-hooks.ts";
import { askingLock, leadTerm, releaseLease, type TermContext } from "./lead-term.ts";
import {
  type LeaderElectorOptions,
  type ResolvedLeaderElectorOptions,
  resolveLeaderElector,
} from "./leader-elector-options.ts";
import { elapsedSince, type Grant, Lease } from "./lease.ts";
import { Term } from "./term.ts";

/**
 * Phase of an elector.
 *
 * | State | Meaning |
 * | --- | --- |
 * | `"idle"` | not running, or resting after a term |
 * | `"campaigning"` | waiting to become leader |
 * | `"leading"` | the work runs under the lease |
 * | `"stopping"` | the work was aborted and has not settled yet, or the lease is being released |
 */
export type ElectionState = "idle" | "campaigning" | "leading" | "stopping";

/** State of an elector for a health endpoint. Durations are in milliseconds. */
export interface ElectionStatus {
  /** Phase of the elector. */
  readonly state: ElectionState;

  /** Name of the elector. */
  readonly identity: string;

  /** Identity of the leader in the latest record; undefined if the lease is free. */
  readonly leader: string | undefined;

  /** Token of the term; undefined when no work of a term is running. */
  readonly token: number | undefined;

  /** Time since the last response of the lock; undefined before the first. */
  readonly sinceAnswer: number | undefined;

  /**
   * Time since the work was aborted; 0 if it was not aborted or has settled. The lease is renewed
   * meanwhile, so no other process takes over. If this grows beyond the time that the work needs to
   * finish, restart the process: the work ignores its signal.
   */
  readonly stoppingFor: number;

  /**
   * How long the work has outlived its lease; 0 while the lease is held, also during a stop. Another
   * process may lead. If this grows, restart the process: the work ignores `lost`.
   */
  readonly overdue: number;

  /** Error of the latest request to the lock; undefined if it succeeded. */
  readonly lastError: unknown;
}

/**
 * Lets one of several processes work while the others stand by.
 *
 * | Event | Reaction |
 * | --- | --- |
 * | the lease is free, or was not renewed for the duration it states | becomes leader and calls `lead` |
 * | a renewal fails | tries again, until the renew deadline after the last success |
 * | the signal of {@link LeaderElector.run} aborts | aborts `signal`, renews until `lead` settles, releases the lease and ends |
 * | {@link LeaderElector.resign} is called | the same, then rests for one lease so that another process can lead, and campaigns again |
 * | `lead` settles by itself | releases the lease, rests for one lease, campaigns again |
 * | the renew deadline passes, also during a stop | aborts `lost` and `signal`, waits for `lead`, campaigns again |
 * | another process holds the lease, also during a stop | the same, as soon as a request shows it |
 *
 * The elector always waits for `lead` before it releases the lease or begins another term. There is at
 * most one leader at any time, even while the old one stops, provided that `lead` ends within
 * `leaseDuration` minus `renewDeadline` after `lost` has aborted.
 *
 * Wall clocks are never compared: each process measures on its own monotonic clock how long ago it saw
 * the record change. Clocks may run at different speeds while their ratio stays below `leaseDuration`
 * to `renewDeadline`. When a paused process continues, or a suspended machine wakes, {@link LeaderElector.isLeader} is
 * correct at once and the signals abort a moment later. If that moment matters, use the token. A monotonic clock stands
 * still in a suspension, so a leader also compares its own wall clock with that of its last renewal: set forward by
 * `renewDeadline`, it costs a term.
 *
 * @remarks Source: `LeaderElector` of k8s.io/client-go/tools/leaderelection. Go stops renewing when its
 * context ends, continues until the deadline when it sees another holder, does not wait for the work,
 * and runs for one term.
 *
 * @example
 * ```ts
 * import { FakeClock } from "@holdfast/clock/testing";
 * import { LeaderElector, MemoryLock } from "@holdfast/controller";
 *
 * const clock = new FakeClock();
 * const start = clock.monotonic();
 * const lock = new MemoryLock();
 * const elector = (identity: string) => new LeaderElector({
 *   lock, identity, clock, random: () => 0,
 *   lead: async ({ token, signal }) => {
 *     console.log(clock.monotonic() - start, identity, "leads with token", token);
 *     await clock.sleep(Infinity, { signal });
 *   },
 * });
 *
 * const stopA = new AbortController();
 * const stopB = new AbortController();
 * const a = elector("a").run(stopA.signal); // => 0 a leads with token 0
 * await clock.step(1_000);
 * const b = elector("b").run(stopB.signal);
 * await clock.step(60_000);
 * stopA.abort();
 * await clock.step(2_000); // => 63000 b leads with token 1
 * stopB.abort();
 * await Promise.all([a, b]);
 * ```
 */
export class LeaderElector {
  /** Name of the elector, so that a `Manager` accepts it as a runnable. */
  readonly name: string;
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #lease: Lease;
  readonly #hooks: ElectorHooks;
  #state: ElectionState = "idle";
  #term: Term | undefined;
  /** Settles when the term, its work and the release have ended. */
  #over: Promise<void> | undefined;
  /** How long to wait before the next campaign, in milliseconds. */
  #rest = 0;
  #isRunning = false;

  /**
   * @param options - see {@link LeaderElectorOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: LeaderElectorOptions) {
    this.#options = resolveLeaderElector(options);
    this.name = this.#options.name;
    this.#hooks = new ElectorHooks(this.#options);
    const { lock, identity, leaseDuration, renewDeadline, clock } = this.#options;
    this.#lease = new Lease({
      lock,
      identity,
      leaseDuration,
      requestTimeout: renewDeadline / 2,
      clock,
      onHolder: (holder) => this.#hooks.newLeader(holder),
    });
  }

  /**
   * Whether this process holds the lease for its work: true from the start of `lead` until it settles,
   * also during a stop, because the lease protects its last writes. False from the renew deadline on,
   * even in a process that was paused or a machine that was suspended. Before you begin something new, check `signal`.
   */
  get isLeader(): boolean {
    return this.#term?.holdsLease ?? false;
  }

  /** Identity of the leader in the latest record; undefined if the lease is free. */
  get leader(): string | undefined {
    return this.#lease.holder;
  }

  /** State for a health endpoint, as plain data. */
  status(): ElectionStatus {
    const now = this.#options.clock.monotonic();
    const { answeredAt } = this.#lease;
    const term = this.#term;
    const isLeading = term?.state === "leading" && term.holdsLease;
    return {
      state: this.#state === "leading" && !isLeading ? "stopping" : this.#state,
      identity: this.#options.identity,
      leader: this.leader,
      token: term?.token,
      sinceAnswer: answeredAt === undefined ? undefined : now - answeredAt,
      stoppingFor: term?.stopRequestedAt === undefined ? 0 : now - term.stopRequestedAt,
      overdue: term === undefined ? 0 : Math.max(0, now - term.leaseEnd),
      lastError: this.#hooks.lockError,
    };
  }

  /**
   * Campaigns and leads, again and again, until `signal` aborts.
   *
   * @param signal - stops the elector: the signal of `lead` aborts with the same reason
   * @param options - see {@link RunOptions}
   * @returns a promise that resolves when `lead` has settled and the lease is released. A release that
   * fails for 5 s, or for the renew deadline if that is shorter, is given up: the lease then runs out.
   * No timer and no listener is left. It rejects with an error of `lead` or `onNewLeader` if there is no
   * `onError`, with an error of `onError` itself, with an Error if the elector is already running, and with a
   * TypeError for a bad argument
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    const { ref, stopWithin } = resolveRun(signal, options);
    if (this.#isRunning) throw new Error("elector is already running");
    this.#isRunning = true;
    this.#rest = 0;
    const hold = ref ? holdOpen(this.#options.clock) : undefined;
    using running = new LinkedController(signal);
    this.#hooks.begin({ signal, stopWithin }, (reason) => running.abort(reason));
    try {
      await this.#terms(running.signal);
    } finally {
      hold?.[Symbol.dispose]();
      this.#isRunning = false;
      this.#state = "idle";
    }
    this.#hooks.throwFailure();
  }

  /**
   * Resigns: aborts the signal of `lead`, renews until `lead` settles, releases the lease, and rests
   * for one lease so that another process can lead. Does nothing if this process does not lead.
   *
   * @returns a promise that resolves when the lease is released, or when the release is given up as in
   * {@link LeaderElector.run}
   */
  async resign(): Promise<void> {
    this.#term?.stop(new DOMException("the leader resigned", "AbortError"));
    await this.#over;
  }

  async #terms(signal: AbortSignal): Promise<void> {
    const term = (): Promise<void> => this.#campaignAndLead(signal);
    if (this.#options.once) {
      if (!signal.aborted) await term();
      return;
    }
    const { clock } = this.#options;
    await loop({ run: term, delay: () => this.#rest, signal, clock });
  }

  async #campaignAndLead(signal: AbortSignal): Promise<void> {
    this.#state = "campaigning";
    const grant = await this.#campaign(signal);
    if (grant !== undefined && !signal.aborted) {
      const over = deferred<void>();
      // Set before the term begins: its work may resign at once.
      this.#over = over.promise;
      await this.#lead(grant, signal);
      this.#over = undefined;
      over.resolve();
    } else if (this.#lease.mayHold) await releaseLease(this.#context);
    this.#state = "idle";
  }

  /** Campaigns until it may lead or is stopped. */
  async #campaign(signal: AbortSignal): Promise<Grant | undefined> {
    const { retryPeriod, renewDeadline, clock, random } = this.#options;
    using ended = new LinkedController(signal);
    let won: Grant | undefined;
    const attempt = async (): Promise<void> => {
      const grant = await this.#lease.acquire(ended.signal);
      this.#hooks.lockAnswered();
      if (grant === undefined || elapsedSince(grant, clock) >= renewDeadline) return;
      won = grant;
      ended.abort();
    };
    await loop({
      run: attempt,
      signal: ended.signal,
      clock,
      ...askingLock(() => jitter(retryPeriod, CAMPAIGN_JITTER, random), this.#hooks),
    });
    return won;
  }

  /** One term, from the first call of `lead` until the lease is released or lost. */
  async #lead(grant: Grant, signal: AbortSignal): Promise<void> {
    const { clock, renewDeadline, leaseDuration } = this.#options;
    const term = new Term({ clock, grant, renewDeadline, leaseDuration });
    const subscription = onAbort(signal, (reason) => term.stop(reason));
    this.#term = term;
    this.#state = "leading";
    await leadTerm(term, this.#context);
    subscription[Symbol.dispose]();
    this.#term = undefined;
    this.#state = "stopping";
    if (!term.lost.aborted) await releaseLease(this.#context);
    // A leader that lost its lease competes again at once; one that gave it up lets others go first.
    const isUnasked = term.lost.aborted && term.signal.reason === term.lost.reason;
    this.#rest = isUnasked ? 0 : leaseDuration;
  }

  get #context(): TermContext {
    const { lead, renewDeadline, retryPeriod, clock } = this.#options;
    const [lease, hooks] = [this.#lease, this.#hooks];
    return { lease, lead, renewDeadline, retryPeriod, clock, hooks };
  }
}
