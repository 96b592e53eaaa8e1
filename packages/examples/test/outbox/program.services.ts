import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { describe, it } from "vitest";
import { childrenOf, survivors } from "../../../../test/processes.ts";
import type { Snapshot } from "../../src/outbox/web/snapshot.ts";

// Processes, sockets, the database and time are real here.

// The tests share a schema on each server, so they are in one file and run one after another.

const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../dist/outbox/${path}`, import.meta.url));
const MAIN = fileOf("main.js");
const CRASH = fileOf("crash/main.js");

/** How many workers die; `ROUNDS=100` for a hundred. */
const ROUNDS = process.env["ROUNDS"] ?? "10";

/** For a machine that is busy with other things. */
const PATIENT = { timeout: 300_000 };

const WELL = {
  missing: 0,
  lost: 0,
  givenUpEarly: 0,
  twice: 0,
  phantoms: 0,
  overlaps: 0,
  overlapping: [],
};

/** The program, as the leader of a process group: what a terminal's Ctrl-C reaches. */
class Run {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly stdout: Promise<string>;
  #stderr = "";

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, [MAIN, "--json", "-", ...args], {
      env: { ...process.env, AMQP_URL: "", REDIS_URL: "" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.child = child;
    this.stdout = text(child.stdout);
    this.exited = once(child, "close").then(([code]) => code as number | null);
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr += chunk;
    });
  }

  /** Everything it has said beside the figures. */
  get said(): string {
    return this.#stderr;
  }

  /** Waits for the address of its page. It rejects if the program ends before. */
  async begun(): Promise<string> {
    const page = (): string | undefined => {
      const [, url] = /the page: (\S+)/.exec(this.#stderr) ?? [];
      if (this.child.exitCode !== null) throw new Error(`it has ended:\n${this.#stderr}`);
      return url;
    };
    return await poll(page, { backoff: { duration: 50 } });
  }

  /** As the terminal does it: to every process of the group. */
  interrupt(): void {
    process.kill(-(this.child.pid ?? Number.NaN), "SIGINT");
  }

  async summary(): Promise<Record<string, number> & { readonly faults: readonly string[] }> {
    const json = await this.stdout;
    if (json === "") throw new Error(`there are no figures, but:\n${this.#stderr}`);
    return JSON.parse(json);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGTERM");
    await this.exited;
  }
}

it.for(["pglite", "postgres", "mysql"])(
  "delivers everything once on %s while workers are killed, and leaves nothing",
  PATIENT,
  async (database, { expect }) => {
    const args = ["--database", database, "--messages", "60", "--kills", "3", "--seed", "3"];
    await using run = new Run(args);
    const summary = await run.summary();
    expect(run.said).toMatch(/killed 3/);
    expect(summary).toMatchObject({
      ...WELL,
      sent: 59,
      takenBack: 1,
      killed: 3,
      unplaced: 0,
      waiting: 0,
      faults: [],
    });
    expect(summary).toHaveProperty("duplicates", expect.any(Number));
    expect(await run.exited).toBe(0);
  },
);

it.for([3, 7, 15])(
  "reports correct figures when interrupted after %d s, and leaves no process",
  PATIENT,
  async (seconds, { expect }) => {
    const messages = 100_000;
    await using run = new Run(["--messages", `${messages}`, "--database", "postgres"]);
    await run.begun();
    await realClock.sleep(seconds * 1_000);
    const pids = childrenOf(run.child.pid);
    run.interrupt();
    const summary = await run.summary();
    expect(await run.exited).toBe(128 + 2);
    expect(summary).toMatchObject({
      ...WELL,
      faults: ["stopped before every message was settled"],
    });
    const { sent = 0, unplaced = 0, takenBack = 0, delivered = 0, waiting = 0, dead = 0 } = summary;
    expect(sent + unplaced + takenBack).toBe(messages);
    // Those that wait or are dead may have had their effect: a reply was lost.
    expect(delivered).toBeLessThanOrEqual(sent);
    expect(delivered + waiting + dead).toBeGreaterThanOrEqual(sent);
    expect(pids).toHaveLength(3);
    expect(await survivors(pids)).toEqual([]);
  },
);

it(
  "reports correct figures when interrupted before the database has started",
  PATIENT,
  async ({ expect }) => {
    await using run = new Run(["--messages", "10", "--database", "pglite", "--no-page"]);
    // It listens for signals before it says so, and starts the database then.
    await poll(() => run.said.includes("Starting PGlite"), { backoff: { duration: 20 } });
    run.interrupt();
    const code = await run.exited;
    expect(await run.summary()).toMatchObject({
      ...WELL,
      faults: ["stopped before every message was settled"],
    });
    expect(code).toBe(128 + 2);
  },
);

it.for(["pglite", "postgres", "mysql"])(
  "loses nothing on %s when workers die before and after each step",
  { timeout: 3_600_000 },
  async (database, { expect }) => {
    const args = ["--rounds", ROUNDS, "--database", database];
    const rounds = spawn(process.execPath, [CRASH, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed, [code]] = await Promise.all([text(rounds.stdout), once(rounds, "exit")]);
    console.log(printed);
    expect(printed).toContain(`${ROUNDS} workers died`);
    expect(printed).toContain("0 lost, 0 stuck, 0 effects twice.");
    expect(printed).toContain("All checks passed.");
    expect(code).toBe(0);
  },
);

it.for(["postgres", "mysql"])(
  "lists, discards and replays the dead letters of a run on %s, and loses nothing",
  PATIENT,
  async (database, { expect }) => {
    const args = ["--database", database, "--messages", "300", "--kills", "0", "--seed", "5"];
    await using run = new Run([...args, "--no-page"]);
    const { sent, dead = 0 } = await run.summary();
    expect(dead).toBeGreaterThan(1);
    const command = async (...words: readonly string[]): Promise<string> => {
      const child = spawn(process.execPath, [MAIN, ...words, "--database", database], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [printed, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
      expect(code, printed).toBe(0);
      return printed;
    };
    const ids = (await command("dead-letters")).trim().split("\n");
    expect(ids).toHaveLength(dead);
    const [first = ""] = ids.map((line) => line.split(" ")[0]);
    expect(await command("discard", "--ids", first)).toBe("1 dead letter is discarded.\n");
    const printed = await command("replay");
    expect(printed).toMatch(new RegExp(`^sent +${sent} `, "m"));
    expect(printed).toMatch(/^discarded +1 /m);
    expect(printed).toMatch(/^dead +0 /m);
    expect(printed).toContain("All checks passed.");
  },
);

describe("the page of a real run", () => {
  /** A run that goes on, and its page. */
  async function kept() {
    const args = ["--database", "pglite", "--messages", "200", "--kills", "0", "--keep"];
    const run = new Run(args);
    const url = await run.begun();
    const { origin } = new URL(url);
    const post = async (path: string): Promise<string> => {
      const response = await fetch(`${origin}${path}`, { method: "POST", headers: { origin } });
      return await response.text();
    };
    const shown = async (isShown: (snapshot: Snapshot) => boolean): Promise<Snapshot> => {
      for (;;) {
        const snapshot = (await (await fetch(`${origin}/state`)).json()) as Snapshot;
        if (isShown(snapshot)) return snapshot;
        await realClock.sleep(50);
      }
    };
    const close = (): Promise<void> => run[Symbol.asyncDispose]();
    return { run, post, shown, [Symbol.asyncDispose]: close };
  }

  it("kills and replays, and nothing is lost", PATIENT, async ({ expect }) => {
    await using world = await kept();
    const { run, post, shown } = world;
    const { workers } = await shown((now) => now.workers.some(({ state }) => state === "working"));
    const [victim] = workers.filter(({ state }) => state === "working");
    expect(await post(`/kill?worker=${victim?.name}`)).toContain("was killed");
    await shown((now) => now.killed === 1 && now.workers.some(({ name }) => name === "worker-4"));

    const { messages } = await shown(({ state }) => state === "settled");
    expect(messages.dead).toBeGreaterThan(0);
    expect(await post("/replay")).toContain(`${messages.dead} dead letters are pending again`);
    await shown((now) => now.state === "settled" && now.messages.dead === 0);
    run.interrupt();
    expect(await run.summary()).toMatchObject({
      ...WELL,
      sent: 196,
      delivered: 196,
      takenBack: 4,
      dead: 0,
      killed: 1,
      faults: [],
    });
    expect(await run.exited).toBe(0);
  });
});
