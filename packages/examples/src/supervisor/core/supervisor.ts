import { isDeepStrictEqual } from "node:util";
import { onAbort } from "@holdfast/clock";
import {
  Controller,
  type ControllerOptions,
  fromCallback,
  isRetryAfterError,
  type Leadership,
  mapSource,
  type Source,
  silentLogger,
} from "@holdfast/controller";
import type { Manifest } from "../manifest/manifest.ts";
import type { ReadManifest } from "../manifest/read-manifest.ts";
import { diff } from "./diff.ts";
import type { Change, SupervisorEvent } from "./event.ts";
import type { Machine } from "./machine.ts";
import { Process } from "./process.ts";
import { initialStatus, reduce, type Statuses } from "./status.ts";

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
  readonly metrics?: Pick<ControllerOptions, "metrics" | "queueMetrics"> | undefined;
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
  #manifest: Manifest = { grace: 0, processes: new Map() };
  /** The actual processes by name. */
  readonly #processes = new Map<string, Process>();
  #statuses: Statuses = new Map();
  #state: "open" | "closed" = "open";
  #onExit: (name: string) => void = () => {};

  constructor(options: SupervisorOptions) {
    const { manifests, machine, metrics } = options;
    this.#options = options;
    const exits = fromCallback("exits", (enqueue) => {
      this.#onExit = enqueue;
    });
    this.controller = new Controller({
      name: "supervisor",
      sources: [mapSource(manifests, (read) => this.#apply(read)), exits],
      reconcile: ({ key }) => this.#reconcile(key),
      onError: (error) => {
        if (!isRetryAfterError(error)) this.#tell({ type: "failed", message: `${error}` });
      },
      // Errors are events of the views; lines on the console would break the live table.
      logger: silentLogger,
      clock: machine.clock,
      random: machine.random,
      ...metrics,
    });
  }

  /** Runs until `signal` aborts, for a reason that is told, and everything has ended. */
  async run(signal: AbortSignal, leadership?: Leadership): Promise<void> {
    using _closing = onAbort(signal, (why) => {
      this.#state = "closed";
      this.#tell({ type: "shutdown", why: `${why}`, grace: this.#grace });
    });
    await this.controller.run(signal, { leadership });
    for (const process of this.#processes.values()) process.stop("shutdown", this.#grace);
    await Promise.all([...this.#processes.values()].map(({ ended }) => ended));
  }

  /** The current desired state. */
  get manifest(): Manifest {
    return this.#manifest;
  }

  get #grace(): number {
    return this.#options.grace ?? this.#manifest.grace;
  }

  /** @returns the names to look at */
  #apply(read: ReadManifest): readonly string[] {
    const { file } = this.#options;
    if (read.ok) {
      const actions = diff(this.#manifest.processes, read.manifest.processes);
      this.#manifest = read.manifest;
      this.#tell({ type: "applied", file, actions });
      return actions.map(({ name }) => name);
    }
    if ("errors" in read) this.#tell({ type: "rejected", errors: read.errors });
    else this.#tell({ type: "unreadable", file, message: read.message });
    return [];
  }

  /** One step for one process. An event or the backoff leads to the next one. */
  async #reconcile(name: string): Promise<void> {
    if (this.#state === "closed" || this.#isLeaving(name)) return;
    const spec = this.#manifest.processes.get(name);
    if (spec === undefined) return;
    const process =
      this.#processes.get(name) ??
      new Process(spec, {
        machine: this.#options.machine,
        report: (change) => this.#tell({ ...change, name }),
        status: () => this.#statuses.get(name) ?? initialStatus(name),
        onExit: () => this.#onExit(name),
      });
    this.#processes.set(name, process);
    await process.start(() => this.#state === "open" && this.#isCurrent(process));
  }

  /** Stops the actual process unless it matches the desired one. */
  #isLeaving(name: string): boolean {
    const process = this.#processes.get(name);
    if (process === undefined || this.#isCurrent(process)) return false;
    const isWanted = this.#manifest.processes.has(name);
    process.stop(isWanted ? "changed" : "removed", this.#grace);
    if (this.#statuses.get(name)?.phase === "Terminating") return true;
    this.#processes.delete(name);
    if (!isWanted) this.#tell({ type: "removed", name });
    return false;
  }

  #isCurrent({ spec }: Process): boolean {
    const { name } = spec;
    const isStopped = this.#statuses.get(name)?.phase === "Stopped";
    return !isStopped && isDeepStrictEqual(spec, this.#manifest.processes.get(name));
  }

  #tell(change: Change): void {
    const event = { ...change, at: this.#options.machine.clock.monotonic() };
    this.#statuses = reduce(this.#statuses, event);
    this.#options.report(event, this.#statuses);
  }
}
