import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PassiveClock } from "@holdfast/clock";
import type { CacheReport, CacheVersions, Note, ReplicaOptions, ReplicaReport } from "./report.ts";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** Exit of a replica. */
export interface ReplicaExit {
  /** Whether the parent caused the exit: killed it, or stopped it in order. */
  readonly isWanted: boolean;
  readonly text: string;
  /** Milliseconds from SIGTERM to the exit; undefined without SIGTERM. */
  readonly stopTook: number | undefined;
}

export interface ReplicaListeners {
  readonly onReport: () => void;
  /** Called with each unexpected warning or error of the operator. */
  readonly onNote: (replica: Replica, text: string) => void;
}

/** The parent's handle of a process that runs the operator. */
export class Replica {
  readonly name: string;
  readonly exited: Promise<ReplicaExit>;
  readonly #child: ChildProcess;
  readonly #clock: PassiveClock;
  readonly #queries = new Map<number, (versions: CacheVersions | undefined) => void>();
  #report: ReplicaReport | undefined;
  #state: "running" | "paused" | "stopping" | "killed" | "gone" = "running";
  #asked = 0;
  #stopAt: number | undefined;

  constructor(options: ReplicaOptions, clock: PassiveClock, tell: ReplicaListeners) {
    this.name = options.name;
    this.#clock = clock;
    this.#child = fork(MAIN, [JSON.stringify(options)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // Its own process group: the parent handles Ctrl-C and stops its replicas.
      detached: true,
    });
    this.#child.on("error", () => undefined); // Sent to a process that has exited; `exited` reports it.
    this.#child.on("message", (message: ReplicaReport | CacheReport | Note) => {
      if (message.type === "report") {
        this.#report = message;
        tell.onReport();
      } else if (message.type === "note") tell.onNote(this, message.text);
      else this.#settle(message.id, message.versions);
    });
    this.exited = this.#watchExit();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get state(): "running" | "paused" | "stopping" | "killed" | "gone" {
    return this.#state;
  }

  /** The latest report; undefined before the first. */
  get report(): ReplicaReport | undefined {
    return this.#report;
  }

  kill(): void {
    this.#state = "killed";
    this.#child.kill("SIGKILL");
  }

  /** Sends SIGTERM. */
  stop(): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#stopAt = this.#clock.monotonic();
    this.#child.kill("SIGTERM");
  }

  /** Suspends the process, like a long pause of its machine. */
  pause(): void {
    if (this.#state !== "running") return;
    this.#state = "paused";
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    if (this.#state !== "paused") return;
    this.#state = "running";
    this.#child.kill("SIGCONT");
  }

  /** Versions of the objects in its caches. Undefined if the process is not running or exits before it answers. */
  async caches(): Promise<CacheVersions | undefined> {
    if (!this.#child.connected || this.#state !== "running") return undefined;
    const id = ++this.#asked;
    return await new Promise((resolve) => {
      this.#queries.set(id, resolve);
      this.#child.send({ id }, () => undefined);
    });
  }

  async #watchExit(): Promise<ReplicaExit> {
    const [code, signal] = (await once(this.#child, "exit")) as [number | null, string | null];
    const wanted = this.#state;
    this.#state = "gone";
    for (const id of [...this.#queries.keys()]) this.#settle(id, undefined);
    const stopTook = this.#stopAt && this.#clock.monotonic() - this.#stopAt;
    // SIGTERM ends a process that does not listen to it yet: nothing has begun.
    const isStopped = code === 0 || (signal === "SIGTERM" && this.#report === undefined);
    const isWanted = wanted === "killed" || (wanted === "stopping" && isStopped);
    return { isWanted, stopTook, text: signal ?? `code ${code}` };
  }

  #settle(id: number, versions: CacheVersions | undefined): void {
    this.#queries.get(id)?.(versions);
    this.#queries.delete(id);
  }
}
