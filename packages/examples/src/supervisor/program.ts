import type { Clock } from "@holdfast/clock";
import type { Leadership, Source } from "@holdfast/controller";
import { PrometheusMetrics } from "@holdfast/controller/prometheus";
import { Registry } from "prom-client";
import type { SupervisorChange, SupervisorEvent } from "./core/event.ts";
import type { ProcessTable } from "./core/process-table.ts";
import type { Statuses } from "./core/status.ts";
import { Supervisor } from "./core/supervisor.ts";
import { freePort } from "./machine/free-port.ts";
import { httpProbe } from "./machine/http-probe.ts";
import { ProcessLogs } from "./machine/process-logs.ts";
import { RealProcessTable } from "./machine/real-process-table.ts";
import type { Manifest } from "./manifest/manifest.ts";
import type { ReadManifest } from "./manifest/read-manifest.ts";
import { manifestSource } from "./manifest-source.ts";
import type { Options } from "./options.ts";
import { Board } from "./view/board.ts";
import type { View } from "./view/view.ts";

/** Options for a {@link Program}. */
export interface ProgramOptions {
  readonly options: Options;
  /** As it is at the start. */
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly view: View;
}

/** Overrides of the command line for a role. */
export interface Assignment {
  readonly manifests?: Source<ReadManifest>;
  readonly table?: ProcessTable;
  /** The term of the leader: another one may supervise when it is over. */
  readonly leadership?: Leadership;
}

/** Parts that all roles of the program share: processes, views and the supervisor. */
export class Program {
  readonly options: Options;
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly logs: ProcessLogs;
  readonly table: ProcessTable;
  readonly board: Board;
  readonly register: Registry = new Registry();
  readonly metrics: PrometheusMetrics = new PrometheusMetrics({ register: this.register });
  readonly #view: View;
  #statuses: Statuses = new Map();

  constructor({ options, manifest, clock, view }: ProgramOptions) {
    this.options = options;
    this.manifest = manifest;
    this.clock = clock;
    this.logs = new ProcessLogs(options.logs);
    this.table = new RealProcessTable(this.logs);
    this.board = new Board({ clock, identity: options.identity, file: options.file });
    this.#view = view;
  }

  /** The latest reported statuses. */
  get statuses(): Statuses {
    return this.#statuses;
  }

  /** Supervises until `signal` aborts and everything has ended. */
  async supervise(signal: AbortSignal, assignment: Assignment = {}): Promise<void> {
    const { file, grace } = this.options;
    const { manifests = manifestSource(file), table = this.table, leadership } = assignment;
    const name = "supervisor";
    const supervisor = new Supervisor({
      file,
      grace,
      manifests,
      machine: { clock: this.clock, table, probe: httpProbe, freePort },
      report: (event, statuses) => this.#report(event, statuses),
      metrics: { metrics: this.metrics.controller(name), queueMetrics: this.metrics.queue(name) },
    });
    this.board.follow(supervisor, leadership?.token);
    await supervisor.run(signal, leadership);
  }

  tell(change: SupervisorChange): void {
    this.#report({ ...change, at: this.clock.monotonic() }, this.#statuses);
  }

  #report(event: SupervisorEvent, statuses: Statuses): void {
    this.#statuses = statuses;
    this.#view.show(event, statuses);
    this.board.show(event, statuses);
  }
}
