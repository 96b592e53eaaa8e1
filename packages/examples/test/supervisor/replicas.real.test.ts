import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { poll } from "@holdfast/wait";
import { afterAll, describe, expect, it } from "vitest";
import { freePort } from "../../src/supervisor/machine/free-port.ts";
import type { Snapshot } from "../../src/supervisor/web/snapshot.ts";
import { isAlive, Program, survivors } from "./program.ts";

// Three real supervisors on one real lock. Nothing here depends on how long something takes.

/** For a machine that is busy with other things. */
const PATIENT = { concurrent: true, timeout: 180_000 };

const RECORDER = fileURLToPath(new URL("recorder.mjs", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "holdfast-test-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A line of the file that the supervised processes write. */
interface Start {
  readonly what: string;
  readonly name: string;
  readonly pid: number;
  readonly parent: number;
}

/** Three supervisors, what they supervise, and what both say. */
class Team implements AsyncDisposable {
  readonly lock: string;
  readonly #file: string;
  readonly #program: Program;
  readonly #url: Promise<string>;

  private constructor(name: string, manifest: string) {
    const place = join(directory, name);
    this.lock = `${place}.lock`;
    this.#file = `${place}.starts`;
    writeFileSync(this.#file, "");
    writeFileSync(`${place}.yaml`, manifest);
    const args = ["--file", `${place}.yaml`, "--lock", this.lock, "--logs", `${place}.logs`];
    this.#program = new Program(["--replicas", "3", "--forever", ...args]);
    this.#url = this.#program.printed(/its page: (\S+)\n/).then(([, url = ""]) => url);
  }

  /** A team for processes of some names, each of which writes its starts. */
  static async of(
    name: string,
    processes: Readonly<Record<string, { life?: number; ignores?: "yes" }>>,
  ): Promise<Team> {
    const entries = Object.entries(processes).map(async ([process, { life, ignores = "no" }]) => {
      const file = join(directory, `${name}.starts`);
      const args = [
        RECORDER,
        file,
        process,
        `${await freePort()}`,
        `${life ?? "forever"}`,
        ignores,
      ];
      return `  ${process}: { command: node, args: ${JSON.stringify(args)} }`;
    });
    const backoff = "backoff: { duration: 1s, cap: 1s, resetAfter: 1m }";
    const lines = ["grace: 500ms", backoff, "processes:", ...(await Promise.all(entries))];
    return new Team(name, lines.join("\n"));
  }

  async state(): Promise<Snapshot> {
    return (await (await fetch(`${await this.#url}state`)).json()) as Snapshot;
  }

  /** Waits until the page shows something. Says what it shows, instead. */
  async shows(condition: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
    let last: Snapshot | undefined;
    const look = async (): Promise<Snapshot | false> => {
      last = await this.state();
      return condition(last) && last;
    };
    try {
      return await poll(look, { backoff: { duration: 50 }, timeout: 60_000 });
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

function leaderOf({ leader, replicas }: Snapshot): {
  identity: string;
  token: number;
  pid: number;
} {
  const { identity = "", token = -1 } = leader ?? {};
  const { pid = 0 } = replicas.find((replica) => replica.identity === identity) ?? {};
  return { identity, token, pid };
}

function pidOf({ processes }: Snapshot, name: string): number | undefined {
  return processes.find((process) => process.name === name)?.pid;
}

const isWorking = (name: string) => (snapshot: Snapshot) =>
  leaderOf(snapshot).pid > 0 && pidOf(snapshot, name) !== undefined;

describe.skipIf(process.platform !== "linux")("three replicas", PATIENT, () => {
  it("hand over when the leader is killed, and never run a process twice", async () => {
    await using team = await Team.of("killed", { polite: {}, stubborn: { ignores: "yes" } });
    const before = await team.shows(isWorking("stubborn"));
    const old = leaderOf(before);
    await team.started(2);
    const orphans = [pidOf(before, "polite") ?? 0, pidOf(before, "stubborn") ?? 0];
    process.kill(old.pid, "SIGKILL");

    const after = await team.shows(
      (snapshot) => leaderOf(snapshot).token > old.token && isWorking("stubborn")(snapshot),
    );
    expect(leaderOf(after).identity).not.toBe(old.identity);
    expect(orphans.filter(isAlive)).toEqual([]);
    await team.shows(({ replicas }) =>
      replicas.some(({ identity, role, restarts }) => {
        return identity === old.identity && role === "standby" && restarts === 1;
      }),
    );
    expect(await team.stop()).toBe(0);
    expect(team.overlaps()).toEqual([]);
    expect(
      team
        .starts()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["polite", "polite", "stubborn", "stubborn"]);
    expect(await survivors(team.starts().map(({ pid }) => pid))).toEqual([]);
    expect(readdirSync(join(team.lock, "processes"))).toEqual([]);
  });

  it("leave a leader that was asleep nothing to do", async () => {
    await using team = await Team.of("asleep", { steady: {}, crasher: { life: 700 } });
    const before = await team.shows(isWorking("steady"));
    const old = leaderOf(before);
    await team.started(3);
    // So the first thing that it finds when it wakes up is a start that is due.
    await team.shows(({ processes }) =>
      processes.some(({ phase }) => phase === "CrashLoopBackOff"),
    );
    process.kill(old.pid, "SIGSTOP");
    const asleep = team.starts().length;
    await team.shows(
      (snapshot) => leaderOf(snapshot).token > old.token && isWorking("steady")(snapshot),
    );
    await team.started(asleep + 2);
    process.kill(old.pid, "SIGCONT");
    const after = await team.shows(({ replicas }) =>
      replicas.some(({ identity, role }) => identity === old.identity && role === "standby"),
    );
    expect(leaderOf(after).pid).not.toBe(old.pid);
    await team.started(team.starts().length + 2);
    expect(await team.stop()).toBe(0);
    expect(team.overlaps()).toEqual([]);
    expect(
      team
        .starts()
        .slice(asleep)
        .map(({ parent }) => parent),
    ).not.toContain(old.pid);
    expect(await survivors(team.starts().map(({ pid }) => pid))).toEqual([]);
  });
});
