import type { Clock } from "@holdfast/clock";
import { endsWithin } from "@holdfast/wait/limit";
import type { RunOptions } from "../run-options.ts";
import type { ResolvedGroup } from "./manager-options.ts";
import { Member } from "./member.ts";
import type { Runnable } from "./runnable.ts";
import { RunnableError } from "./runnable-error.ts";
import type { StopTimes } from "./stop-timeout-of.ts";

/** Slack for a runnable that needs all of its own time to stop, in milliseconds. */
const SETTLING = 1_000;

/** Largest share of the time of a group that is slack. */
const SETTLING_SHARE = 0.1;

/** Runnables that start and stop together, under one signal. */
export class RunnableGroup {
  readonly name: string;
  readonly members: Member[] = [];
  readonly #ended: Promise<void>[] = [];
  /** Monotonic instant at which the runnables are to have ended. */
  #stopsUntil = Number.POSITIVE_INFINITY;
  readonly #options: ResolvedGroup;
  readonly #clock: Clock;
  readonly #report: (error: RunnableError) => void;

  constructor(
    options: ResolvedGroup,
    { clock, report }: { clock: Clock; report: (error: RunnableError) => void },
  ) {
    this.name = options.name;
    this.#options = options;
    this.#clock = clock;
    this.#report = report;
  }

  add(runnable: Runnable): void {
    this.members.push(new Member(runnable));
  }

  /** Times to stop, in milliseconds. */
  get stopTimes(): StopTimes {
    const { stopTimeout: fixed } = this.#options;
    const own = this.members.flatMap(({ stopTimeout: time }) => (time === undefined ? [] : [time]));
    return { fixed, wish: own.length === 0 ? undefined : Math.max(...own) + SETTLING };
  }

  /** Resolves when all are ready, the ready timeout expires, or `halted` resolves. */
  async start(halted: Promise<void>, options: RunOptions): Promise<void> {
    const stopWithin = (): number => Math.max(0, this.#stopsUntil - this.#clock.monotonic());
    const ready = this.members.map((member) => {
      const started = member.start({ options: { ...options, stopWithin }, report: this.#report });
      this.#ended.push(started.ended);
      return started.ready;
    });
    const { startTimeout: timeout } = this.#options;
    const started = Promise.race([Promise.all(ready), halted]);
    if (await this.#ends("start", started, timeout)) return;
    for (const { name, state } of this.members)
      if (state === "starting") this.#report(new RunnableError(name, "not ready", { timeout }));
  }

  /** Resolves when all have ended, or `timeout` milliseconds are over. */
  async stop(reason: unknown, timeout: number): Promise<void> {
    const slack = Math.min(SETTLING, timeout * SETTLING_SHARE);
    this.#stopsUntil = this.#clock.monotonic() + timeout - slack;
    for (const member of this.members) member.beginStop();
    for (const member of this.members) member.stop(reason);
    if (await this.#ends("stop", Promise.all(this.#ended), timeout)) return;
    for (const { name, isRunning } of this.members)
      if (isRunning) this.#report(new RunnableError(name, "not stopped", { timeout }));
  }

  /** Whether `work` ends within the timeout. A timeout of 0 lets end what needs no time. */
  async #ends(label: string, work: Promise<unknown>, timeout: number): Promise<boolean> {
    const clock = this.#clock;
    const limits = { clock, signal: undefined, label: `${label} of ${this.name}` };
    if (timeout === 0) await clock.sleep(0, { label: limits.label });
    return await endsWithin(() => work, timeout, limits);
  }
}
