import type { Clock } from "@holdfast/clock";
import type { Output } from "./output.ts";
import type { ProcessGroup } from "./process-group.ts";

const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
type Forwarded = (typeof FORWARDED)[number];

/** A terminal sends these to all of its foreground group, so to a command that keeps the terminal, too. */
const FROM_TERMINAL: readonly Forwarded[] = ["SIGINT", "SIGQUIT", "SIGHUP"];

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
 * Hands the signals of this process on to the running command, each once, and kills the command after the grace period or
 * at a second INT or TERM.
 *
 * | Signal | The command | holdfast |
 * | --- | --- | --- |
 * | INT, TERM, QUIT | gets it; SIGKILL to its group after `grace`, or at a second INT or TERM at least 1 s later | starts nothing more |
 * | HUP | gets it | starts nothing more |
 * | USR1, USR2 | gets it | goes on |
 */
export class StopSignals implements Disposable {
  /** Aborts when a signal asks to stop while no command runs. */
  readonly idle: AbortSignal;
  /** The first signal that asked to stop. */
  stoppedBy: NodeJS.Signals | undefined;
  readonly #options: StopSignalOptions;
  readonly #controller = new AbortController();
  readonly #lastAt = new Map<Forwarded, number>();
  readonly #listeners: ReadonlyMap<Forwarded, () => void>;
  #firstStopAt: number | undefined;
  #group: Stoppable | undefined;

  constructor(options: StopSignalOptions) {
    this.#options = options;
    this.idle = this.#controller.signal;
    this.#listeners = new Map(FORWARDED.map((signal) => [signal, () => this.#receive(signal)]));
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
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
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }

  #receive(signal: Forwarded): void {
    const now = this.#options.clock.monotonic();
    const last = this.#lastAt.get(signal);
    this.#lastAt.set(signal, now);
    const isRepeated = last !== undefined && now - last < ONE_WISH;
    if (!isRepeated && !this.#reachedByTerminal(signal)) this.#group?.signal(signal);
    if (signal === "SIGUSR1" || signal === "SIGUSR2") return;
    this.stoppedBy ??= signal;
    if (this.#group === undefined) this.#controller.abort();
    else if (signal !== "SIGHUP") this.#escalate(signal, now);
  }

  #reachedByTerminal(signal: Forwarded): boolean {
    return this.#options.keepsTerminal && FROM_TERMINAL.includes(signal);
  }

  #escalate(signal: Forwarded, now: number): void {
    const { grace, output } = this.#options;
    if (this.#firstStopAt === undefined) {
      this.#firstStopAt = now;
      void this.#group?.killAfter(grace);
    } else if (signal !== "SIGQUIT" && now - this.#firstStopAt >= ONE_WISH) {
      output.info(`second ${signal}: killing the command`);
      this.#group?.kill();
    }
  }
}
