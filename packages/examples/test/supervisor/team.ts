import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FileLock } from "@holdfast/controller/file-lock";
import { poll } from "@holdfast/wait";
import { isAlive } from "../../../../test/processes.ts";
import type { Snapshot } from "../../src/supervisor/web/snapshot.ts";
import { PATIENCE } from "../web/browser.ts";
import { SupervisorProgram } from "./supervisor-program.ts";

const RECORDER = fileURLToPath(new URL("recorder.sh", import.meta.url));

/** What of a process is as it should not always be. */
interface Nature {
  /** How long it runs before it crashes, in seconds; forever by default. */
  readonly life?: number;
  readonly ignoresSigterm?: boolean;
}

/** A line of the file that the supervised processes write. */
export interface Start {
  readonly what: string;
  readonly name: string;
  readonly pid: number;
  /** The token of the leader that started it. */
  readonly token: number;
}

/** A replica that leads, as the page shows it. */
export interface Leader {
  readonly identity: string;
  readonly token: number;
  readonly pid: number;
}

export function leaderOf({ leader, replicas }: Snapshot): Leader | undefined {
  const pid = replicas.find(({ identity }) => identity === leader?.identity)?.pid;
  return leader === undefined || pid === undefined ? undefined : { ...leader, pid };
}

/** Three supervisors on one real lock, what they supervise, and what both say. */
export class Team implements AsyncDisposable {
  readonly lock: string;
  /** Where its page is. */
  readonly url: Promise<string>;
  readonly #file: string;
  readonly #lock: FileLock;
  readonly #program: SupervisorProgram;

  private constructor(place: string) {
    this.lock = `${place}.lock`;
    this.#lock = new FileLock(join(this.lock, "lease"));
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
      return await poll(look, { backoff: { duration: 100 }, timeout: PATIENCE });
    } catch {
      throw new Error(`not shown: ${condition}\n${JSON.stringify(last, undefined, 2)}`);
    }
  }

  starts(): Start[] {
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const [what = "", name = "", pid, token] = line.split(" ");
        return { what, name, pid: Number(pid), token: Number(token) };
      });
  }

  /** Waits until a leader with a token above this one has started a process of each name. */
  async startedAfter(token: number, names: readonly string[]): Promise<void> {
    const isStarted = (): boolean => {
      const started = this.starts().filter((start) => start.token > token);
      return names.every((name) => started.some((start) => start.name === name));
    };
    await poll(isStarted, { backoff: { duration: 100 }, timeout: PATIENCE });
  }

  overlaps(): Start[] {
    return this.starts().filter(({ what }) => what !== "start");
  }

  /**
   * Sends a signal that ends or suspends the leader. The page may be late, so the lock decides: tries again
   * if another replica holds it by then.
   */
  async strike(signal: "SIGKILL" | "SIGSTOP", when: (shown: Snapshot) => boolean): Promise<Leader> {
    for (;;) {
      const shown = await this.shows((snapshot) => {
        const { pid } = leaderOf(snapshot) ?? {};
        return pid !== undefined && isAlive(pid) && when(snapshot);
      });
      const leader = leaderOf(shown) as Leader;
      process.kill(leader.pid, signal);
      const held = await this.#lock.get(new AbortController().signal);
      const { holder, transitions } = held?.record ?? {};
      if (holder === leader.identity && transitions === leader.token) return leader;
      if (signal === "SIGSTOP") process.kill(leader.pid, "SIGCONT");
    }
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
