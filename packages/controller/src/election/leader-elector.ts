import { onAbort } from "@holdfast/clock";
import { requireSignal } from "@holdfast/clock/internal";
import { Backoff, backoffManager, backoffUntil } from "@holdfast/wait";
import { jitterUntil, until } from "@holdfast/wait/go";
import { isStop } from "../is-stop.ts";
import type { ElectionState, ElectionStatus } from "./election-status.ts";
import {
  CAMPAIGN_JITTER,
  type LeaderElectorOptions,
  type ResolvedLeaderElectorOptions,
  resolveLeaderElector,
} from "./leader-elector-options.ts";
import { LeadershipLostError } from "./leadership-lost-error.ts";
import { type Grant, Lease } from "./lease.ts";
import { Term } from "./term.ts";

/**
 * Sees to it that of several processes one works and the others stand by.
 *
 * | What happens | What the elector does |
 * | --- | --- |
 * | the record is free, or is not renewed for the duration that it states | becomes leader and calls `lead` |
 * | a renewal fails | tries again, until the renew deadline after the last success |
 * | the renew deadline passes, whatever the lock does | aborts the signal of `lead`, then campaigns again |
 * | somebody else is seen to hold the lease | aborts the signal of `lead` at once, then campaigns again |
 * | `lead` returns, or {@link LeaderElector.resign} is called | gives the lease back, rests for one lease so that others get their turn, campaigns again |
 * | the signal of {@link LeaderElector.run} aborts | aborts the signal of `lead`, gives the lease back, ends |
 *
 * `lead` is always waited for before the lease is given back and before another term begins.
 *
 * Nobody compares clocks: each process measures on its own how long ago it saw the record change. So
 * the clocks may show what they like; only if they run at different speeds, the ratio must stay below
 * that of `leaseDuration` to `renewDeadline`. A process that is paused finds out when it goes on:
 * {@link LeaderElector.isLeader} is right at once, the signal a moment later. Where even that moment
 * matters, use the token.
 *
 * @remarks
 * Source: `LeaderElector` of k8s.io/client-go/tools/leaderelection. Go leads on until the deadline
 * when it sees another holder, does not wait for the work, and runs for one term.
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
  readonly #options: ResolvedLeaderElectorOptions;
  readonly #lease: Lease;
  #state: ElectionState = "idle";
  #term: Term | undefined;
  /** Settles when the term, its work and the release are over. */
  #over: Promise<void> | undefined;
  /** How long to wait before the next campaign, in milliseconds. */
  #rest = 0;
  #lastError: unknown;
  #running: AbortController | undefined;
  /** What nobody took; it ends the run. */
  #failure: { readonly error: unknown } | undefined;

  /**
   * @param options - see {@link LeaderElectorOptions}
   * @throws RangeError or TypeError if an option is out of its range
   */
  constructor(options: LeaderElectorOptions) {
    this.#options = resolveLeaderElector(options);
    const { lock, identity, leaseDuration, renewDeadline, clock } = this.#options;
    this.#lease = new Lease({
      lock,
      identity,
      leaseDuration,
      requestTimeout: renewDeadline / 2,
      clock,
      onHolder: (holder) => void this.#callOut(() => this.#options.onNewLeader?.(holder)),
    });
  }

  /** Whether it leads. False from the renew deadline on, even in a process that was paused. */
  get isLeader(): boolean {
    return this.#term?.isCurrent ?? false;
  }

  /** Who leads, as far as it has seen; undefined if nobody. */
  get leader(): string | undefined {
    return this.#lease.holder;
  }

  /** What a health endpoint wants to know. */
  status(): ElectionStatus {
    const now = this.#options.clock.monotonic();
    const { answeredAt } = this.#lease;
    return {
      state: this.#state === "leading" && !this.isLeader ? "stopping" : this.#state,
      identity: this.#options.identity,
      leader: this.leader,
      token: this.#term?.token,
      sinceAnswer: answeredAt === undefined ? undefined : now - answeredAt,
      overdue: this.#term === undefined ? 0 : Math.max(0, now - this.#term.leaseEnd),
      lastError: this.#lastError,
    };
  }

  /**
   * Campaigns and leads, again and again.
   *
   * @param signal - ends it: the signal of `lead` aborts with the same reason
   * @returns a promise that resolves when the work has ended and the lease is given back, or could not
   * be within the renew deadline; no timer and no listener is left. It rejects with what `lead` or
   * `onNewLeader` throws or rejects with if there is no `onError`, with an Error if the elector runs
   * already, and with a TypeError for a bad argument
   */
  async run(signal: AbortSignal): Promise<void> {
    requireSignal("signal", signal);
    if (this.#running !== undefined) throw new Error("the elector runs already");
    const running = new AbortController();
    this.#running = running;
    this.#failure = undefined;
    this.#rest = 0;
    const subscription = onAbort(signal, (reason) => running.abort(reason));
    try {
      await this.#turns(running.signal);
    } finally {
      subscription[Symbol.dispose]();
      this.#running = undefined;
      this.#state = "idle";
    }
    this.#throwFailure();
  }

  /**
   * Gives leadership up: ends the work, waits for it, gives the lease back, and rests for one lease so
   * that another can take it. Without leadership it does nothing.
   *
   * @returns a promise that resolves when the lease is given back, or could not be within the renew
   * deadline
   */
  async resign(): Promise<void> {
    this.#term?.end("resigned", new LeadershipLostError("resigned"));
    await this.#over;
  }

  async #turns(signal: AbortSignal): Promise<void> {
    const turn = (): Promise<void> => this.#turn(signal);
    if (this.#options.once) {
      if (!signal.aborted) await turn();
      return;
    }
    const rests = { delayFunc: () => () => this.#rest };
    await backoffUntil(turn, backoffManager(rests, { clock: this.#options.clock }), true, signal);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    this.#state = "campaigning";
    const grant = await this.#campaign(signal);
    if (grant !== undefined && !signal.aborted) {
      this.#over = this.#serve(grant, signal);
      await this.#over;
      this.#over = undefined;
    } else if (this.#lease.mayHold) await this.#release();
    this.#state = "idle";
  }

  /** Tries until it may lead, or is stopped. */
  async #campaign(signal: AbortSignal): Promise<Grant | undefined> {
    const { retryPeriod, renewDeadline, clock, random } = this.#options;
    const ended = new AbortController();
    const subscription = onAbort(signal, (reason) => ended.abort(reason));
    let won: Grant | undefined;
    const attempt = async (): Promise<void> => {
      const grant = await this.#lease.acquire(ended.signal);
      this.#lastError = undefined;
      if (grant === undefined || clock.monotonic() >= grant.since + renewDeadline) return;
      won = grant;
      ended.abort();
    };
    const onError = (error: unknown): void => this.#lockFailed(error);
    const jitter = CAMPAIGN_JITTER;
    try {
      await jitterUntil(attempt, retryPeriod, ended.signal, { jitter, clock, random, onError });
    } finally {
      subscription[Symbol.dispose]();
    }
    return won;
  }

  /** One term, from the first call of `lead` until the lease is given back. */
  async #serve(grant: Grant, signal: AbortSignal): Promise<void> {
    const { retryPeriod, clock, renewDeadline, leaseDuration } = this.#options;
    const term = new Term({ clock, grant, renewDeadline, leaseDuration });
    const subscription = onAbort(signal, (reason) => term.end("stopped", reason));
    this.#term = term;
    this.#state = "leading";
    const renew = async (): Promise<void> => {
      const renewal = await this.#lease.renew(term.token, term.signal);
      this.#lastError = undefined;
      if (renewal === undefined) term.end("replaced", new LeadershipLostError("replaced"));
      else term.renew(renewal);
    };
    const onError = (error: unknown): void => this.#lockFailed(error);
    const work = this.#work(term);
    await until(renew, retryPeriod, term.signal, { clock, onError });
    this.#state = "stopping";
    await work;
    this.#term = undefined;
    subscription[Symbol.dispose]();
    const isFree = term.state === "replaced" || term.state === "expired";
    if (!isFree) await this.#release();
    this.#rest = isFree ? 0 : leaseDuration;
  }

  async #work(term: Term): Promise<void> {
    const { token, signal } = term;
    try {
      await this.#options.lead({ token, signal });
    } catch (error) {
      if (!isStop(error, signal)) void this.#report(error);
    }
    term.end("finished", undefined);
  }

  /** Gives the lease back, trying again until the renew deadline is over. */
  async #release(): Promise<void> {
    const { renewDeadline, retryPeriod, clock } = this.#options;
    const ended = new AbortController();
    const timer = clock.afterFunc(renewDeadline, () => ended.abort(), { label: "release" });
    const release = async (): Promise<void> => {
      await this.#lease.release(ended.signal);
      this.#lastError = undefined;
      ended.abort();
    };
    const onError = (error: unknown): void => this.#lockFailed(error);
    const delays = new Backoff({
      duration: retryPeriod / 8,
      factor: 2,
      cap: retryPeriod,
      steps: 8,
    });
    try {
      await backoffUntil(release, backoffManager(delays, { clock }), true, ended.signal, {
        onError,
      });
    } finally {
      timer.stop();
    }
  }

  /** A lock that fails is asked again; whoever watches is told. */
  #lockFailed(error: unknown): void {
    this.#lastError = error;
    const { onError } = this.#options;
    if (onError !== undefined) void this.#callOut(() => onError(error));
  }

  /** Calls user code, which is not waited for. */
  async #callOut(call: () => unknown): Promise<void> {
    try {
      await call();
    } catch (error) {
      await this.#report(error);
    }
  }

  /** Hands an error of user code over; one that nobody takes ends the run. */
  async #report(error: unknown): Promise<void> {
    try {
      if (this.#options.onError === undefined) throw error;
      await this.#options.onError(error);
    } catch (unhandled) {
      this.#failure ??= { error: unhandled };
      this.#running?.abort(unhandled);
    }
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
