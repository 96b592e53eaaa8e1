import { onAbort } from "@holdfast/clock";
import {
  Controller,
  fromCallback,
  isRetryAfterError,
  mapSource,
  type Source,
  silentLogger,
} from "@holdfast/controller";
import { EXIT } from "../../exit-code.ts";
import { type Manifest, type ProcessSpec, partOf } from "../manifest/manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import { obstacleOf } from "./dependencies.ts";
import { diff, isSameProgram } from "./diff.ts";
import type { Change, ProcessEvent, StopReason, SupervisorEvent } from "./event.ts";
import type { Machine } from "./machine.ts";
import { codeOf } from "./outcome.ts";
import { Process } from "./process.ts";
import { initialStatus, type ProcessStatus, reduce, type Statuses } from "./status.ts";

/** Options for a {@link Supervisor}. */
export interface SupervisorOptions {
  /** Name of the manifest in events. */
  readonly file: string;
  /** The desired state: each valid manifest replaces the previous one. */
  readonly manifests: Source<ReadManifest>;
  readonly machine: Machine;
  /** Called with every event and the statuses after it. */
  readonly report: (event: SupervisorEvent, statuses: Statuses) => void;
  /** Overrides the grace period of the manifest, in milliseconds. */
  readonly grace?: number | undefined;
  /** The processes to run, with those that they depend on; all by default. */
  readonly names?: readonly string[] | undefined;
}

/**
 * Keeps the running processes equal to the manifest.
 *
 * A controller whose keys are the names of the processes. Edits and exits add a name. A reconcile compares
 * the desired with the actual process and does the next step. The reconcile of a crashed process throws, so
 * the queue returns the name after its backoff.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  /** The controller that does the work; read its status here. */
  readonly controller: Controller;
  #manifest: Manifest = { processes: new Map() };
  /** The actual processes by name. */
  readonly #processes = new Map<string, Process>();
  #statuses: Statuses = new Map();
  #state: "open" | "closed" = "open";
  #isFinished = false;
  /** Processes to start anew, whatever their phase, and why. */
  readonly #asked = new Map<Process, StopReason>();
  /** Names that stay stopped until a restart is asked for. */
  readonly #held = new Set<string>();
  #enqueue: (name: string) => void = () => {};

  constructor(options: SupervisorOptions) {
    const { manifests, machine } = options;
    this.#options = options;
    const changes = fromCallback("changes", (enqueue) => {
      this.#enqueue = enqueue;
    });
    this.controller = new Controller({
      name: "supervisor",
      sources: [mapSource(manifests, (read) => this.#apply(read)), changes],
      reconcile: ({ key, signal }) => this.#reconcile(key, signal),
      onError: (error) => {
        if (!isRetryAfterError(error)) this.#tell({ type: "failed", message: `${error}` });
      },
      // Errors are events of the views; lines on the console would break the live table.
      logger: silentLogger,
      clock: machine.clock,
      random: machine.random,
    });
  }

  /** Runs until `signal` aborts, for a reason that is told, and everything has ended. */
  async run(signal: AbortSignal): Promise<void> {
    using _closing = onAbort(signal, (why) => {
      this.#state = "closed";
      this.#tell({ type: "shutdown", why: `${why}` });
    });
    await this.controller.run(signal);
    await this.#stopAll();
  }

  /** Stops each process when those that depend on it have ended. */
  async #stopAll(): Promise<void> {
    const stops = new Map<Process, Promise<void>>();
    const stop = (process: Process): Promise<void> => {
      const known = stops.get(process);
      if (known !== undefined) return known;
      stops.set(process, Promise.resolve()); // An edit may have made a cycle of old and new.
      const { name } = process.spec;
      const dependents = [...this.#processes.values()].filter(({ spec }) =>
        Object.hasOwn(spec.dependsOn, name),
      );
      const stopped = Promise.all(dependents.map(stop)).then(async () => {
        process.stop("shutdown");
        await process.ended;
      });
      stops.set(process, stopped);
      return stopped;
    };
    await Promise.all([...this.#processes.values()].map(stop));
  }

  /** The current desired state. */
  get manifest(): Manifest {
    return this.#manifest;
  }

  /**
   * Stops a process and starts it anew, whatever its phase, also one that {@link stop} holds.
   *
   * @returns false if the manifest has none of this name
   */
  restart(name: string): boolean {
    const process = this.#processes.get(name);
    if (!this.#manifest.processes.has(name) || process === undefined) return false;
    this.#held.delete(name);
    this.#ask(process, "asked");
    return true;
  }

  /**
   * Stops a process, which stays stopped until {@link restart}, or until it leaves the manifest. One that has ended stays as it is.
   *
   * @returns false if the manifest has none of this name
   */
  stop(name: string): boolean {
    if (!this.#manifest.processes.has(name)) return false;
    if (!isOver(this.#statuses.get(name))) this.#held.add(name);
    this.#enqueue(name);
    return true;
  }

  /** @returns the names to look at */
  #apply(read: ReadManifest): readonly string[] {
    const { file } = this.#options;
    if (read.ok) {
      const part = partOf(read.manifest.processes, this.#options.names ?? []);
      const processes = this.#withGrace(part);
      const actions = diff(this.#manifest.processes, processes);
      this.#manifest = { processes };
      this.#tell({ type: "applied", file, actions });
      // One that has to stop keeps the grace of its life.
      for (const [name, spec] of processes) {
        const process = this.#processes.get(name);
        if (process !== undefined && isSameProgram(process.spec, spec)) process.update(spec);
      }
      this.#finish();
      return [...new Set([...actions.map(({ name }) => name), ...this.#pending()])];
    }
    if ("errors" in read) this.#tell({ type: "rejected", errors: read.errors });
    else this.#tell({ type: "unreadable", file, message: read.message });
    return [];
  }

  /** Processes that wait for others. */
  #pending(): readonly string[] {
    return [...this.#statuses.values()].filter(({ reason }) => reason).map(({ name }) => name);
  }

  #withGrace(processes: Manifest["processes"]): Manifest["processes"] {
    const { grace } = this.#options;
    if (grace === undefined) return processes;
    return new Map([...processes].map(([name, spec]) => [name, { ...spec, grace }]));
  }

  /** One step for one process. An event or the backoff leads to the next one. */
  async #reconcile(name: string, signal: AbortSignal): Promise<void> {
    if (this.#state === "closed" || this.#isHeld(name) || this.#isLeaving(name)) return;
    const spec = this.#manifest.processes.get(name);
    if (spec === undefined) return;
    const process =
      this.#processes.get(name) ??
      new Process(spec, {
        machine: this.#options.machine,
        report: (change) => this.#tell({ ...change, name }),
        status: () => this.#statuses.get(name) ?? initialStatus(name),
        onExit: () => this.#enqueue(name),
      });
    this.#processes.set(name, process);
    if (this.#isHeldBack(name, spec)) return;
    await process.start(() => this.#state === "open" && this.#isCurrent(process), signal);
  }

  /** Stops a process that is to stay stopped. One that has left the manifest goes its usual way. */
  #isHeld(name: string): boolean {
    if (!this.#manifest.processes.has(name)) this.#held.delete(name);
    if (!this.#held.has(name)) return false;
    this.#processes.get(name)?.stop("held");
    return true;
  }

  /** Whether a process has never run and waits for others. Restarts do not wait. */
  #isHeldBack(name: string, spec: ProcessSpec): boolean {
    const { phase, reason, isBlocked } = this.#statuses.get(name) ?? initialStatus(name);
    if (phase !== "Pending") return false;
    const obstacle = obstacleOf(spec, this.#statuses);
    const isForEver = obstacle?.isForEver ?? false;
    if (obstacle?.reason !== reason || isForEver !== isBlocked)
      this.#tell({ type: "pending", name, reason: obstacle?.reason, isForEver });
    return obstacle !== undefined;
  }

  /** Stops the actual process unless it matches the desired one. */
  #isLeaving(name: string): boolean {
    const process = this.#processes.get(name);
    if (process === undefined || this.#isCurrent(process)) return false;
    const isWanted = this.#manifest.processes.has(name);
    const reason = this.#asked.get(process) ?? "changed";
    process.stop(isWanted ? reason : "removed");
    if (this.#statuses.get(name)?.phase === "Terminating") return true;
    this.#processes.delete(name);
    this.#asked.delete(process);
    if (!isWanted) this.#tell({ type: "removed", name });
    return false;
  }

  #isCurrent(process: Process): boolean {
    const { spec } = process;
    const { name } = spec;
    const isStopped = this.#statuses.get(name)?.phase === "Stopped";
    const wanted = this.#manifest.processes.get(name);
    if (isStopped || wanted === undefined) return false;
    if (this.#asked.has(process) || this.#held.has(name)) return false;
    return isSameProgram(spec, wanted);
  }

  #tell(change: Change): void {
    const event = { ...change, at: this.#options.machine.clock.monotonic() };
    this.#statuses = reduce(this.#statuses, event);
    this.#options.report(event, this.#statuses);
    if (!("name" in event)) return;
    for (const spec of this.#manifest.processes.values()) {
      if (!Object.hasOwn(spec.dependsOn, event.name)) continue;
      if (spec.restartWith?.includes(event.name) === true && isRestart(event))
        this.#follow(spec.name);
      this.#enqueue(spec.name);
    }
    this.#finish();
  }

  /** Starts a process anew because one that it depends on is, unless it has ended. */
  #follow(name: string): void {
    const process = this.#processes.get(name);
    const phase = this.#statuses.get(name)?.phase;
    if (process === undefined || this.#state === "closed") return;
    if (phase === "Running" || phase === "CrashLoopBackOff") this.#ask(process, "dependency");
  }

  #ask(process: Process, reason: StopReason): void {
    if (!this.#asked.has(process)) this.#asked.set(process, reason);
    this.#enqueue(process.spec.name);
  }

  /** Tells once that nothing will run any more, or that the end of one process is the end of all. */
  #finish(): void {
    if (this.#state === "closed" || this.#isFinished) return;
    const wanted = [...this.#manifest.processes.values()];
    const ended = wanted.filter(({ name }) => isOver(this.#statuses.get(name)));
    const decider = ended.find(({ exitOnEnd }) => exitOnEnd);
    const isAll = wanted.length > 0 && ended.length === wanted.length;
    if (decider === undefined && !isAll) return;
    this.#isFinished = true;
    const failed = ended.filter(({ name }) => this.#statuses.get(name)?.phase !== "Completed");
    if (decider !== undefined) this.#tell(this.#endBy(decider.name));
    else
      this.#tell({
        type: "finished",
        why: "all processes have ended",
        code: failed.length === 0 ? EXIT.ok : 1,
      });
  }

  #endBy(name: string): Change {
    const exit = this.#statuses.get(name)?.lastRun?.exit;
    const code = exit === undefined ? EXIT.failed : codeOf(exit);
    return { type: "finished", why: `${name} has ended`, code };
  }
}

/** Whether a life has ended, or ends, and another one follows. */
function isRestart(event: ProcessEvent): boolean {
  if (event.type === "terminating")
    return event.reason !== "shutdown" && event.reason !== "removed";
  return event.type === "unhealthy" || (event.type === "exited" && event.outcome === "restart");
}

function isOver(status: ProcessStatus | undefined): boolean {
  if (status === undefined) return false;
  return status.phase === "Completed" || status.phase === "Failed" || status.isBlocked;
}
