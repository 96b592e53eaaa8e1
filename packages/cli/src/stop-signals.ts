import type { Clock } from "@holdfast/clock";
import { hurry, type Output } from "./output.ts";
import type { ProcessGroup } from "./process-group.ts";
import { effectOf, FROM_TERMINAL, isSessionLeader, onSignals, signalsWith } from "./signals.ts";

/**
 * A signal that arrives twice within this time is one wish: a closing terminal, concurrently and nodemon
 * send it twice. Milliseconds.
 */
export const ONE_WISH = 1_000;

/** What a signal does to a running command. */
type Stoppable = Pick<ProcessGroup, "signal" | "kill" | "killAfter">;

/** Options for {@link StopSignals}. */
export interface StopSignalOptions {
  /** Time from the first INT, TERM or QUIT to SIGKILL, in milliseconds. */
  readonly grace: number;
  /** Whether the command keeps the terminal. */
  readonly keepsTerminal: boolean;
  readonly clock: Clock;
  readonly output: Output;
}

/**
 * Hands the signals of this process on to the running command, and kills the command after the grace period or at a
 * second INT or TERM.
 *
 * | Signal | The command | holdfast |
 * | --- | --- | --- |
 * | INT, TERM, QUIT | gets it once; SIGKILL to its group after `grace`, or at a second INT or TERM at least 1 s later | starts nothing more |
 * | HUP | gets it once | starts nothing more |
 * | others, see `signals.ts` | gets it | goes on; without a command, ALRM, PWR and the like end it |
 */
export class StopSignals implements Disposable {
  /** Aborts when a signal asks to stop while no command runs. */
  readonly idle: AbortSignal;
  /** The first signal that asked to stop. */
  stoppedBy: NodeJS.Signals | undefined;
  readonly #options: StopSignalOptions;
  readonly #controller = new AbortController();
  readonly #lastAt = new Map<NodeJS.Signals, number>();
  readonly #listening: Disposable;
  #firstStopAt: number | undefined;
  #group: Stoppable | undefined;

  constructor(options: StopSignalOptions) {
    this.#options = options;
    this.idle = this.#controller.signal;
    // A terminal suspends holdfast and its command: then the shell has its turn.
    const caught = signalsWith("stop", "end", "pass", "none").filter(
      (signal) => signal !== "SIGTSTP" || !options.keepsTerminal,
    );
    this.#listening = onSignals(caught, (signal) => this.#receive(signal));
  }

  /** Runs work during which the signals go to a group. */
  async during<Result>(group: Stoppable, work: () => Promise<Result>): Promise<Result> {
    this.#group = group;
    try {
      return await work();
    } finally {
      this.#group = undefined;
    }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #receive(signal: NodeJS.Signals): void {
    const effect = effectOf(signal);
    if (effect === "none") return;
    const isRepeated = effect === "stop" && this.#isRepeated(signal);
    if (!isRepeated && !this.#hasReached(signal)) this.#group?.signal(signal);
    if (effect === "stop" || (effect === "end" && this.#group === undefined)) this.#stop(signal);
  }

  /** Whether the terminal has sent a signal to the command, too. */
  #hasReached(signal: NodeJS.Signals): boolean {
    if (!this.#options.keepsTerminal || !FROM_TERMINAL.has(signal)) return false;
    return signal !== "SIGHUP" || !isSessionLeader();
  }

  #isRepeated(signal: NodeJS.Signals): boolean {
    const now = this.#options.clock.monotonic();
    const last = this.#lastAt.get(signal);
    this.#lastAt.set(signal, now);
    return last !== undefined && now - last < ONE_WISH;
  }

  #stop(signal: NodeJS.Signals): void {
    hurry();
    this.stoppedBy ??= signal;
    if (this.#group === undefined) this.#controller.abort();
    if (signal !== "SIGHUP") this.#escalate(signal);
  }

  /** The second signal kills, also if the first came when nothing ran. */
  #escalate(signal: NodeJS.Signals): void {
    const { grace, output, clock } = this.#options;
    const now = clock.monotonic();
    if (this.#firstStopAt === undefined) {
      this.#firstStopAt = now;
      void this.#group?.killAfter(grace);
      return;
    }
    if (this.#group === undefined || signal === "SIGQUIT") return;
    if (now - this.#firstStopAt < ONE_WISH) return;
    output.info(`second ${signal}: killing the command`);
    this.#group.kill();
  }
}
