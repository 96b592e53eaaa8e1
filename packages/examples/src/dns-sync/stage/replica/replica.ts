import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PassiveClock } from "@holdfast/clock";
import type { CacheReport, CacheVersions, Note, ReplicaOptions, ReplicaReport } from "./report.ts";

const MAIN = fileURLToPath(new URL("./main.js", import.meta.url));

/** How a replica ended. */
export interface ReplicaExit {
  /** Whether somebody asked for it, with whatever signal. */
  readonly isWanted: boolean;
  readonly text: string;
  /** Milliseconds from the request to stop in order; undefined without one. */
  readonly stopTook: number | undefined;
}

export interface ReplicaListeners {
  readonly onReport: () => void;
  /** Gets the warnings of the operator. */
  readonly onNote: (replica: Replica, text: string) => void;
}

/** A process that runs the operator, as its parent knows it. */
export class Replica {
  readonly name: string;
  readonly exited: Promise<ReplicaExit>;
  readonly #child: ChildProcess;
  readonly #clock: PassiveClock;
  readonly #questions = new Map<number, (versions: CacheVersions | undefined) => void>();
  #report: ReplicaReport | undefined;
  #state: "running" | "paused" | "stopping" | "killed" | "gone" = "running";
  #asked = 0;
  #stopAt: number | undefined;

  constructor(options: ReplicaOptions, clock: PassiveClock, tell: ReplicaListeners) {
    this.name = options.name;
    this.#clock = clock;
    this.#child = fork(MAIN, [JSON.stringify(options)], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      // A group of its own: Ctrl-C is for the parent, which stops its replicas.
      detached: true,
    });
    this.#child.on("error", () => undefined); // A message to one that is gone: its exit says so.
    this.#child.on("message", (message: ReplicaReport | CacheReport | Note) => {
      if (message.type === "report") {
        this.#report = message;
        tell.onReport();
      } else if (message.type === "note") tell.onNote(this, message.text);
      else this.#answer(message.id, message.versions);
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

  /** Asks it to stop in order. */
  stop(): void {
    if (this.#state !== "running") return;
    this.#state = "stopping";
    this.#stopAt = this.#clock.monotonic();
    this.#child.kill("SIGTERM");
  }

  /** Lets it stand still, as a long pause of its machine does. */
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

  /** Versions of the objects in its caches. Undefined if it ends before it answers. */
  async caches(): Promise<CacheVersions | undefined> {
    if (!this.#child.connected || this.#state !== "running") return undefined;
    const id = ++this.#asked;
    return await new Promise((resolve) => {
      this.#questions.set(id, resolve);
      this.#child.send({ id }, () => undefined);
    });
  }

  async #watchExit(): Promise<ReplicaExit> {
    const [code, signal] = (await once(this.#child, "exit")) as [number | null, string | null];
    const wanted = this.#state;
    this.#state = "gone";
    for (const id of [...this.#questions.keys()]) this.#answer(id, undefined);
    const stopTook = this.#stopAt && this.#clock.monotonic() - this.#stopAt;
    const isWanted = wanted === "killed" || (wanted === "stopping" && code === 0);
    return { isWanted, stopTook, text: signal ?? `code ${code}` };
  }

  #answer(id: number, versions: CacheVersions | undefined): void {
    this.#questions.get(id)?.(versions);
    this.#questions.delete(id);
  }
}
