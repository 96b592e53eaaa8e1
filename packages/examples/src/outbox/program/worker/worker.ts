import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PlaceOrder, Report } from "./report.ts";
import type { WorkerOptions } from "./worker-options.ts";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** A worker as its parent knows it: a process that may be killed at any moment. */
export class Worker {
  readonly name: string;
  /** Resolves when the process is gone. */
  readonly exited: Promise<unknown>;
  readonly #child: ChildProcess;
  #isGone = false;

  constructor(options: WorkerOptions, onReport: (report: Report) => void) {
    this.name = options.name;
    this.#child = fork(MAIN, [JSON.stringify(options)], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#child.on("message", (report) => onReport(report as Report));
    this.exited = once(this.#child, "exit").then(() => {
      this.#isGone = true;
    });
  }

  /** Asks it to place an order. It may die before it does; a report says that it has. */
  place(order: number): void {
    const message: PlaceOrder = { order };
    // A worker that is gone says so by its exit.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  kill(): void {
    if (!this.#isGone) this.#child.kill("SIGKILL");
  }

  /** Lets it finish what it does. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.exited;
  }
}
