import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { poll } from "@holdfast/wait";
import type { Snapshot } from "../../src/supervisor/web/snapshot.ts";
import { SupervisorProgram } from "./supervisor-program.ts";

const RECORDER = fileURLToPath(new URL("recorder.sh", import.meta.url));

/** What of a process is as it should not always be. */
interface Nature {
  /** How long it runs before it crashes, in seconds; for ever by default. */
  readonly life?: number;
  readonly ignoresSigterm?: boolean;
}

/** A line of the file that the supervised processes write. */
export interface Start {
  readonly what: string;
  readonly name: string;
  readonly pid: number;
  readonly parent: number;
}

/** Three supervisors on one real lock, what they supervise, and what both say. */
export class Team implements AsyncDisposable {
  readonly lock: string;
  /** Where its page is. */
  readonly url: Promise<string>;
  readonly #file: string;
  readonly #program: SupervisorProgram;

  private constructor(place: string) {
    this.lock = `${place}.lock`;
    this.#file = startsFile(place);
    writeFileSync(this.#file, "");
    const args = ["--file", `${place}.yaml`, "--lock", this.lock, "--logs", `${place}.logs`];
    this.#program = new SupervisorProgram([
      "--replicas",
      "3",
      "--lease",
      "2s",
      "--forever",
      ...args,
    ]);
    this.url = this.#program.printed(/its page: (\S+)\n/).then(([, url = ""]) => url);
  }

  /** A team for processes of some names, each of which writes its starts. */
  static in(directory: string, processes: Readonly<Record<string, Nature>>): Team {
    const place = join(directory, "team");
    const entries = Object.entries(processes).map(([process, nature]) => {
      const { life = "infinity", ignoresSigterm } = nature;
      const ignores = ignoresSigterm ? "yes" : "no";
      const args = [RECORDER, startsFile(place), process, `${life}`, ignores];
      return `  ${process}: { command: sh, args: ${JSON.stringify(args)} }`;
    });
    const backoff = "backoff: { duration: 500ms, cap: 500ms, resetAfter: 1m }";
    const lines = ["grace: 500ms", backoff, "processes:", ...entries];
    writeFileSync(`${place}.yaml`, lines.join("\n"));
    return new Team(place);
  }

  async state(): Promise<Snapshot> {
    return (await (await fetch(`${await this.url}state`)).json()) as Snapshot;
  }

  /** Waits until the page shows something. Says what it shows, instead. */
  async shows(condition: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    let last: Snapshot | undefined;
    const look = async (): Promise<Snapshot | false> => {
      last = await this.state();
      return condition(last) && last;
    };
    try {
      return await poll(look, { backoff: { duration: 100 }, timeout: 60_000 });
    } catch {
      throw new Error(`not shown: ${condition}\n${JSON.stringify(last, undefined, 2)}`);
    }
  }

  starts(): Start[] {
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [what = "", name = "", pid, parent] = line.split(" ");
        return { what, name, pid: Number(pid), parent: Number(parent) };
      });
  }

  /** Waits until processes have started so often. */
  async started(times: number): Promise<void> {
    await poll(() => this.starts().length >= times, { timeout: 60_000 });
  }

  overlaps(): Start[] {
    return this.starts().filter(({ what }) => what !== "start");
  }

  async stop(): Promise<number | null> {
    this.#program.child.kill("SIGTERM");
    return await this.#program.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
  }
}

function startsFile(place: string): string {
  return `${place}.starts`;
}
