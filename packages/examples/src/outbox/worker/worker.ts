import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PlaceOrder, Report } from "./report.ts";
import type { WorkerOptions } from "./worker-options.ts";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** How a worker ended: by itself or by a signal. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A worker as its parent knows it: a process that may be killed at any moment. */
export class Worker {
  readonly name: string;
  /** Resolves when the process is gone, and all that it reported is told. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #isKilled = false;

  constructor(options: WorkerOptions, onReport: (report: Report) => void) {
    this.name = options.name;
    this.#child = fork(MAIN, [JSON.stringify(options)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // A group of its own: Ctrl-C is for the parent, which asks its workers to stop.
      detached: true,
    });
    this.#child.on("message", (report) => onReport(report as Report));
    this.#child.on("error", () => undefined); // A message to one that is gone: its exit says so.
    const disconnected = once(this.#child, "disconnect");
    this.exited = once(this.#child, "exit").then(async ([code, signal]) => {
      await disconnected;
      return { code, signal };
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Whether it was killed; its exit comes soon. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Asks it to place an order. It may die before it does; a report says that it has. */
  place(order: number): void {
    const message: PlaceOrder = { order };
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): void {
    this.#isKilled = true;
    this.#child.kill("SIGKILL");
  }

  /** Asks it to finish its work and exit. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
