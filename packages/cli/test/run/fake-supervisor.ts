import { FakeClock } from "@holdfast/clock/testing";
import { fromCallback } from "@holdfast/controller";
import { seededRandom } from "@holdfast/wait/strategies";
import type { SupervisorEvent } from "../../src/run/core/event.ts";
import type { Machine } from "../../src/run/core/machine.ts";
import type { Exit } from "../../src/run/core/process-table.ts";
import type { Statuses } from "../../src/run/core/status.ts";
import { Supervisor } from "../../src/run/core/supervisor.ts";
import { parseManifest } from "../../src/run/manifest/parse-manifest.ts";
import type { ReadManifest } from "../../src/run/manifest/read-manifest.ts";
import { FakeProcessTable, type Program } from "./fake-process-table.ts";

/** What a {@link FakeSupervisor} may be told about its world. */
export interface FakeSupervisorOptions {
  readonly probe?: Machine["probe"];
  readonly freePort?: Machine["freePort"];
  readonly isTaken?: Machine["isTaken"];
  readonly isSilent?: Machine["isSilent"];
  readonly seed?: number;
  readonly grace?: number;
  readonly names?: readonly string[];
  /** Is told what the fake is told. */
  readonly report?: (event: SupervisorEvent, statuses: Statuses) => void;
}

/** A supervisor on a fake clock with fake processes, and all that it told. */
export class FakeSupervisor {
  readonly clock = new FakeClock();
  readonly table: FakeProcessTable;
  readonly supervisor: Supervisor;
  readonly events: SupervisorEvent[] = [];
  statuses: Statuses = new Map();
  readonly #start = this.clock.monotonic();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #enqueue: (manifest: ReadManifest) => void = () => {};

  constructor(programs: Readonly<Record<string, Program>>, options: FakeSupervisorOptions = {}) {
    const {
      probe = () => async () => {},
      freePort = async () => 4_000,
      seed = 1,
      grace,
      names,
    } = options;
    const { isTaken = async () => false, isSilent = async () => false } = options;
    const { clock } = this;
    this.table = new FakeProcessTable(clock, programs);
    const random = seededRandom(seed);
    const machine = { clock, table: this.table, probe, freePort, isTaken, isSilent, random };
    const manifests = fromCallback<ReadManifest>("manifest", (enqueue) => {
      this.#enqueue = enqueue;
      return () => {
        this.#enqueue = () => {};
      };
    });
    const report = (event: SupervisorEvent, statuses: Statuses): void => {
      this.events.push(event);
      this.statuses = statuses;
      options.report?.(event, statuses);
    };
    this.supervisor = new Supervisor({
      file: "test.yaml",
      manifests,
      machine,
      report,
      grace,
      names,
    });
    this.#running = this.supervisor.run(this.#stop.signal);
  }

  apply(yaml: string): void {
    const parsed = parseManifest(yaml, "test.yaml");
    if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join("\n"));
    this.#enqueue(parsed);
  }

  /** Resolves when everything has ended. */
  async shutdown(why: string): Promise<void> {
    this.#stop.abort(why);
    await this.#running;
  }

  /** What happened to processes so far: milliseconds since the start, name, what. */
  timeline(): [number, string][] {
    const lines: [number, string][] = [];
    for (const failure of this.failures()) throw new Error(failure);
    for (const event of this.events) {
      if (!("name" in event) || event.type === "wanted") continue;
      lines.push([event.at - this.#start, `${event.name} ${describe(event)}`]);
    }
    return lines;
  }

  /** What went wrong, and should not have. */
  failures(): string[] {
    return this.events.flatMap((event) => (event.type === "failed" ? [event.message] : []));
  }

  phases(): Record<string, string> {
    return Object.fromEntries([...this.statuses].map(([name, { phase }]) => [name, phase]));
  }
}

function describeExit(exit: Exit): string {
  if (exit.kind === "error") return exit.message;
  return exit.kind === "code" ? `code ${exit.code}` : exit.signal;
}

function describe(event: SupervisorEvent): string {
  switch (event.type) {
    case "exited":
      return `${event.outcome}s: ${describeExit(event.run.exit)}`;
    case "stopped":
      return event.run === undefined ? "stopped" : `stopped: ${describeExit(event.run.exit)}`;
    case "waiting":
      return `waits ${event.delay}`;
    case "terminating":
      return `terminating (${event.reason})`;
    case "readiness":
      return event.ready ? "ready" : `unready: ${event.reason}`;
    case "pending":
      return event.reason === undefined ? "may start" : `pending: ${event.reason}`;
    case "unhealthy":
      return `unhealthy: ${event.reason}`;
    default:
      return event.type;
  }
}
