import { RetryAfterError } from "@holdfast/controller";
import { ExponentialBackoffManager } from "@holdfast/wait";
import type { ProcessSpec } from "../manifest/manifest.ts";
import type { ProcessChange, StopReason } from "./event.ts";
import type { Machine } from "./machine.ts";
import { outcomeOf } from "./outcome.ts";
import type { Child, Run } from "./process-table.ts";
import { watchReadiness } from "./readiness.ts";
import type { ProcessStatus } from "./status.ts";

/** Options for a {@link Process}. */
export interface ProcessOptions {
  readonly machine: Machine;
  readonly report: (change: ProcessChange) => void;
  /** The status after all reported changes. */
  readonly status: () => ProcessStatus;
  /** Called when it has ended, however it did. */
  readonly onExit: () => void;
}

/** Deadlines are rounded to it. */
const NANOSECOND = 1e-6;

/** One entry of the manifest: its child, or the delay before its next start. */
export class Process {
  readonly spec: ProcessSpec;
  /** Resolves when it does not run, and that is reported. */
  ended: Promise<void> = Promise.resolve();
  readonly #options: ProcessOptions;
  readonly #backoff: ExponentialBackoffManager;
  #child: Child | undefined;

  constructor(spec: ProcessSpec, options: ProcessOptions) {
    const { clock, random } = options.machine;
    this.spec = spec;
    this.#options = options;
    this.#backoff = new ExponentialBackoffManager({ ...spec.backoff, clock, random });
    options.report({ type: "wanted", probed: spec.readiness !== undefined });
  }

  /**
   * Starts it, if a start is the next step.
   *
   * @param isWanted - asked again when there is a port for it
   * @throws RetryAfterError if it has crashed, and its backoff is not over
   */
  async start(isWanted: () => boolean): Promise<void> {
    const { machine, report, status } = this.#options;
    const { name, command, args, cwd, readiness } = this.spec;
    const { phase } = status();
    if (phase !== "Pending" && phase !== "CrashLoopBackOff") return;
    if (phase === "CrashLoopBackOff") this.#backOff();
    const port = readiness?.port === "auto" ? await machine.freePort() : readiness?.port;
    if (!isWanted()) return;
    const env = { ...this.spec.env, ...(port !== undefined && { PORT: `${port}` }) };
    const child = machine.table.start({ name, command, args, env, cwd });
    if (child.pid === undefined) return this.#end({ exit: await child.exited, ran: 0 });
    this.#child = child;
    report({ type: "started", pid: child.pid });
    this.ended = this.#live(child, port);
  }

  /** Sees to it that it ends, or is not started again. */
  stop(reason: StopReason, grace: number): void {
    const { machine, report, status } = this.#options;
    const { phase } = status();
    if (phase === "Pending" || phase === "CrashLoopBackOff")
      report({ type: "stopped", run: undefined });
    const child = this.#child;
    if (phase !== "Running" || child === undefined) return;
    report({ type: "terminating", reason, grace });
    const kill = (): void => {
      child.signal("SIGKILL");
      report({ type: "killing", grace });
    };
    const timer = machine.clock.afterFunc(grace, kill, { label: "grace period" });
    child.signal("SIGTERM");
    void child.exited.then(() => timer.stop());
  }

  /** Throws until the backoff is over. The first call after a crash plans it. */
  #backOff(): void {
    const { machine, report, status } = this.#options;
    const now = machine.clock.monotonic();
    let { nextStart } = status();
    if (nextStart === undefined) {
      const timer = this.#backoff.backoff();
      timer.stop(); // It is the queue that waits.
      nextStart = timer.deadline;
      report({ type: "waiting", delay: nextStart - now, deadline: nextStart });
    }
    if (nextStart - now >= NANOSECOND) throw new RetryAfterError(nextStart - now);
  }

  /** Sees a child to its end, and asks it meanwhile whether it is ready. */
  async #live(child: Child, port: number | undefined): Promise<void> {
    const { machine, report } = this.#options;
    const { readiness } = this.spec;
    const startedAt = machine.clock.monotonic();
    const over = new AbortController();
    const url = `http://127.0.0.1:${port}${readiness?.path}`;
    const tell = (ready: boolean): void => report({ type: "readiness", ready, url });
    const watching = readiness && watchReadiness({ ...readiness, url }, machine, over.signal, tell);
    const exit = await child.exited;
    over.abort();
    await watching;
    this.#end({ exit, ran: machine.clock.monotonic() - startedAt });
  }

  #end(run: Run): void {
    const { report, status, onExit } = this.#options;
    if (status().phase === "Terminating") report({ type: "stopped", run });
    else report({ type: "exited", run, outcome: outcomeOf(this.spec.restart, run.exit) });
    onExit();
  }
}
