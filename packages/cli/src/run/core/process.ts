import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { RetryAfterError } from "@holdfast/controller";
import { ExponentialBackoffManager, poll } from "@holdfast/wait";
import { EXIT } from "../../exit-code.ts";
import { type ProbeSpec, type ProcessSpec, portsOf } from "../manifest/manifest.ts";
import type { ProcessChange, StopReason } from "./event.ts";
import type { BoundProbe, Machine } from "./machine.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { NOT_READY, nameOf, nextReadiness, repeatProbe } from "./probes.ts";
import type { Child, Run } from "./process-table.ts";
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

/** One life: a child, and what belongs to it. */
interface Life {
  readonly child: Child;
  readonly env: Readonly<Record<string, string>>;
  readonly port: number | undefined;
  /** Ends its probes. */
  probing: AbortController;
  probes: Promise<unknown>;
  /** Why the supervisor ends it, and starts another one. */
  forced: string | undefined;
  /** Whether the child is gone; its end is reported when its probes have ended. */
  isGone: boolean;
}

/** Deadlines are rounded to it. */
const NANOSECOND = 1e-6;
/** Pace of the checks of memory, in milliseconds. */
const MEMORY_PERIOD = 1_000;

/** One entry of the manifest: its child, or the delay before its next start. */
export class Process {
  /** Resolves when it does not run, and that is reported. */
  ended: Promise<void> = Promise.resolve();
  readonly #options: ProcessOptions;
  #spec: ProcessSpec;
  #backoff: ExponentialBackoffManager;
  #life: Life | undefined;
  /** Restarts since the last long run. */
  #restarts = 0;

  constructor(spec: ProcessSpec, options: ProcessOptions) {
    this.#spec = spec;
    this.#options = options;
    this.#backoff = this.#newBackoff();
    options.report({ type: "wanted", probed: spec.readiness !== undefined });
  }

  get spec(): ProcessSpec {
    return this.#spec;
  }

  /** Takes over what can change in a running process: policies, limits and probes. */
  update(spec: ProcessSpec): void {
    const old = this.#spec;
    this.#spec = spec;
    if (!isDeepStrictEqual(old.backoff, spec.backoff)) this.#backoff = this.#newBackoff();
    const watched = ({ readiness, liveness, startup, maxMemory }: ProcessSpec): object => {
      return { readiness, liveness, startup, maxMemory };
    };
    if (isDeepStrictEqual(watched(old), watched(spec))) return;
    this.#options.report({ type: "updated", probed: spec.readiness !== undefined });
    if (this.#life !== undefined) this.#watch(this.#life);
  }

  /**
   * Starts it, if a start is the next step.
   *
   * @param isWanted - asked again when its paths and its ports have been looked at
   * @throws RetryAfterError if it has crashed, and its backoff is not over; `signal.reason`
   */
  async start(isWanted: () => boolean, signal: AbortSignal): Promise<void> {
    const { machine, report, status } = this.#options;
    const { phase } = status();
    if (phase !== "Pending" && phase !== "CrashLoopBackOff") return;
    if (phase === "CrashLoopBackOff") this.#backOff();
    const { name, command, args, cwd, grace } = this.#spec;
    const obstacle = (await this.#silentPath(signal)) ?? (await this.#takenPort());
    const [first] = portsOf(this.#spec);
    const port = first === "auto" ? await machine.freePort() : first;
    if (!isWanted()) return;
    if (obstacle !== undefined) {
      const exit = { kind: "error", message: obstacle, code: EXIT.failed } as const;
      return this.#end({ exit, ran: 0 }, undefined);
    }
    const env = { ...this.#spec.env, ...(port !== undefined && { PORT: `${port}` }) };
    const child = machine.table.start({ name, command, args, env, cwd, grace });
    if (child.pid === undefined) return this.#end({ exit: await child.exited, ran: 0 }, undefined);
    report({ type: "started", pid: child.pid });
    const probing = new AbortController();
    const probes = Promise.resolve();
    this.#life = { child, env, port, probing, probes, forced: undefined, isGone: false };
    this.ended = this.#live(this.#life);
  }

  /** Sees to it that it ends, or is not started again. */
  stop(reason: StopReason): void {
    const { report, status } = this.#options;
    const { phase } = status();
    if (phase === "Pending" || phase === "CrashLoopBackOff")
      report({ type: "stopped", run: undefined });
    const life = this.#life;
    if (phase !== "Running" || life === undefined) return;
    const { grace, stopSignal } = this.#spec;
    report({ type: "terminating", reason, grace, signal: stopSignal });
    // One that is ended already has its signal.
    if (life.forced === undefined) this.#sendStop(life);
  }

  #newBackoff(): ExponentialBackoffManager {
    const { clock, random } = this.#options.machine;
    return new ExponentialBackoffManager({ ...this.#spec.backoff, clock, random });
  }

  /** A fixed port of its probes that another process listens on: its answers would count as those of this one. */
  async #takenPort(): Promise<string | undefined> {
    for (const port of new Set(portsOf(this.#spec)))
      if (port !== "auto" && (await this.#options.machine.isTaken(port)))
        return `port ${port} is taken by another process: stop it, or change the port`;
    return undefined;
  }

  /** Its directory or its program, on a file system that does not answer. */
  async #silentPath(signal: AbortSignal): Promise<string | undefined> {
    const { command, cwd } = this.#spec;
    for (const path of [cwd, ...(command.includes("/") ? [resolve(cwd, command)] : [])])
      if (await this.#options.machine.isSilent(path, signal))
        return `the file system of ${path} does not answer`;
    return undefined;
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

  /** Sees a child to its end, and asks it meanwhile. */
  async #live(life: Life): Promise<void> {
    const { clock } = this.#options.machine;
    const startedAt = clock.monotonic();
    this.#watch(life);
    const exit = await life.child.exited;
    life.isGone = true;
    life.probing.abort();
    await life.probes;
    this.#life = undefined;
    this.#end({ exit, ran: clock.monotonic() - startedAt }, life.forced);
  }

  /** The stop signal, and SIGKILL after the grace period. */
  #sendStop({ child }: Life): void {
    const { machine, report } = this.#options;
    const { grace, stopSignal } = this.#spec;
    const kill = (): void => {
      child.signal("SIGKILL");
      report({ type: "killing", grace });
    };
    const timer = machine.clock.afterFunc(grace, kill, { label: "grace period" });
    child.signal(stopSignal);
    void child.exited.then(() => timer.stop());
  }

  /** Ends a life that is no good, as a failure. */
  #force(life: Life, reason: string): void {
    const { report, status } = this.#options;
    if (life.forced !== undefined || status().phase !== "Running") return;
    life.forced = reason;
    life.probing.abort();
    report({ type: "unhealthy", reason });
    this.#sendStop(life);
  }

  #end(run: Run, forced: string | undefined): void {
    const { report, status, onExit } = this.#options;
    if (status().phase === "Terminating") report({ type: "stopped", run });
    else report({ type: "exited", run, outcome: this.#outcomeOf(run, forced) });
    onExit();
  }

  #outcomeOf({ exit }: Run, forced: string | undefined): Outcome {
    const { maxRestarts, backoff } = this.#spec;
    const outcome = outcomeOf(this.#spec, exit, forced !== undefined);
    if (outcome !== "restart") return outcome;
    const { lastExitAt, lastRun } = this.#options.status();
    const since = this.#options.machine.clock.monotonic() - lastExitAt;
    if (lastRun !== undefined && since > backoff.resetAfter) this.#restarts = 0;
    return this.#restarts++ < maxRestarts ? "restart" : "fail";
  }

  // ── Probes and memory ──

  /** Begins to look after a life, instead of how it was looked after before. */
  #watch(life: Life): void {
    if (life.isGone) return;
    life.probing.abort();
    life.probing = new AbortController();
    const { signal } = life.probing;
    life.probes = Promise.all([life.probes, this.#probe(life, signal), this.#limit(life, signal)]);
  }

  /** Startup first: until it has succeeded, the others are not asked. */
  async #probe(life: Life, signal: AbortSignal): Promise<void> {
    const { readiness, liveness, startup } = this.#spec;
    if (startup !== undefined) await this.#require("startup", startup, life, signal);
    await Promise.all([
      readiness && this.#watchReadiness(readiness, life, signal),
      liveness && this.#require("liveness", liveness, life, signal),
    ]);
  }

  async #watchReadiness(spec: ProbeSpec, life: Life, signal: AbortSignal): Promise<void> {
    const { machine, report } = this.#options;
    const probe = this.#bind(spec, life);
    const target = nameOf(probe);
    let state = NOT_READY;
    let told: string | undefined;
    const onAnswer = (reason: string | undefined): boolean => {
      const before = state.ready;
      state = nextReadiness(state, reason === undefined, spec.failures);
      if (state.ready ? before : told === reason) return false;
      told = state.ready ? undefined : reason;
      report({ type: "readiness", ready: state.ready, target, reason: told });
      return false;
    };
    await repeatProbe(spec, probe, machine, { signal, onAnswer });
  }

  /** Asks until the first success for `startup`, and for ever for `liveness`. */
  async #require(
    kind: "startup" | "liveness",
    spec: ProbeSpec,
    life: Life,
    signal: AbortSignal,
  ): Promise<void> {
    let failures = 0;
    const probe = this.#bind(spec, life);
    const onAnswer = (reason: string | undefined): boolean => {
      if (reason === undefined) {
        failures = 0;
        return kind === "startup";
      }
      if (++failures >= spec.failures) this.#force(life, `${kind}: ${nameOf(probe)}: ${reason}`);
      return false;
    };
    await repeatProbe(spec, probe, this.#options.machine, { signal, onAnswer });
  }

  #bind({ target }: ProbeSpec, { env, port = 0 }: Life): BoundProbe {
    const { cwd } = this.#spec;
    if (target.kind === "exec") return { target, env, cwd };
    return { target: { ...target, port: target.port === "auto" ? port : target.port }, env, cwd };
  }

  async #limit(life: Life, signal: AbortSignal): Promise<void> {
    const { maxMemory } = this.#spec;
    if (maxMemory === Number.POSITIVE_INFINITY) return;
    const { clock } = this.#options.machine;
    const check = (): boolean => {
      const used = life.child.memory();
      if (used <= maxMemory) return false;
      const [now, most] = [used, maxMemory].map((bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`);
      this.#force(life, `memory: ${now}, more than ${most}`);
      return true;
    };
    try {
      await poll(check, { interval: MEMORY_PERIOD, clock, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
