import { onAbort } from "@holdfast/clock";
import type { Manifest, ProcessSpec } from "../manifest/manifest.ts";
import { diff } from "./diff.ts";
import type { ProcessChange, Report, StopReason, SupervisorChange } from "./event.ts";
import type { Machine } from "./machine.ts";
import { supervise } from "./supervise.ts";

/** What a {@link Supervisor} is given. */
export interface SupervisorOptions {
  readonly machine: Machine;
  readonly report: Report;
  /** Overrides the grace period of the manifest, in milliseconds. */
  readonly grace?: number | undefined;
}

interface Slot {
  readonly spec: ProcessSpec;
  readonly stop: AbortController;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, () => resolve());
  });
}

/** Makes what runs be what the manifest wants, one manifest after the other. */
export class Supervisor {
  readonly #machine: Machine;
  readonly #report: Report;
  readonly #graceOverride: number | undefined;
  /** What is wanted now, by name. */
  readonly #slots = new Map<string, Slot>();
  /**
   * When the newest instance of each name is gone. A new one waits for the one before, so there are
   * never two at once, however fast the manifest changes.
   */
  readonly #ends = new Map<string, Promise<void>>();
  #grace = 0;
  #state: "open" | "closed" = "open";

  constructor({ machine, report, grace }: SupervisorOptions) {
    this.#machine = machine;
    this.#report = report;
    this.#graceOverride = grace;
  }

  /** Starts, restarts and stops until `manifest` is what runs. Does nothing after a shutdown. */
  apply(manifest: Manifest, file: string): void {
    if (this.#state === "closed") return;
    this.#grace = this.#graceOverride ?? manifest.grace;
    const current = new Map([...this.#slots].map(([name, { spec }]) => [name, spec]));
    const actions = diff(current, manifest.processes);
    this.#tell({ type: "applied", file, actions });
    for (const action of actions) {
      if (action.kind === "stop") this.#stop(action.name, "removed");
      else {
        if (action.kind === "restart") this.#stop(action.spec.name, "changed");
        this.#start(action.spec);
      }
    }
  }

  /** Stops everything, at the latest when the grace period is over. */
  async shutdown(why: string): Promise<void> {
    if (this.#state === "open") {
      this.#state = "closed";
      this.#tell({ type: "shutdown", why, grace: this.#grace });
      for (const name of [...this.#slots.keys()]) this.#stop(name, "shutdown");
    }
    await Promise.all(this.#ends.values());
  }

  #start(spec: ProcessSpec): void {
    const stop = new AbortController();
    this.#slots.set(spec.name, { spec, stop });
    this.#ends.set(spec.name, this.#live(spec, stop.signal, this.#ends.get(spec.name)));
  }

  #stop(name: string, reason: StopReason): void {
    this.#slots.get(name)?.stop.abort(reason);
    this.#slots.delete(name);
  }

  async #live(spec: ProcessSpec, signal: AbortSignal, before?: Promise<void>): Promise<void> {
    const { name, readiness } = spec;
    const { clock } = this.#machine;
    const report = (change: ProcessChange): void =>
      this.#report({ ...change, name, at: clock.monotonic() });
    await before;
    if (!signal.aborted) {
      report({ type: "wanted", probed: readiness !== undefined });
      await supervise(spec, { machine: this.#machine, report, grace: () => this.#grace }, signal);
      await aborted(signal);
    }
    if (signal.reason === "removed") report({ type: "removed" });
  }

  #tell(change: SupervisorChange): void {
    this.#report({ ...change, at: this.#machine.clock.monotonic() });
  }
}
