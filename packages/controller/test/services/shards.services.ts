import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { poll } from "@holdfast/wait";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { oldEnough } from "../../../../services/redis.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";

// Processes, stores and time are real here: three replicas share eight slots while one is killed and one is suspended.

const PROCESS = fileURLToPath(new URL("./shards-process.mjs", import.meta.url));
const LEASE = 3_000;
const COUNT = 8;
const PATIENCE = { timeout: 120_000, backoff: { duration: 50 } };

interface Beat {
  readonly slot: number;
  readonly token: number;
  readonly at: number;
}

interface Replica {
  readonly child: ChildProcess;
  readonly beats: Beat[];
  /** The number of slots it says that it has. */
  held: number;
}

const folder = tempFolder();
const replicas: Replica[] = [];
afterEach(() => {
  for (const { child } of replicas.splice(0)) child.kill("SIGKILL");
});

function start(kind: string, url: string): Replica {
  const child = fork(PROCESS, [kind, url, `${LEASE}`, `${COUNT}`], { execArgv: [] });
  const replica: Replica = { child, beats: [], held: 0 };
  child.on("message", (message: Beat | { held: number }) => {
    if ("held" in message) replica.held = message.held;
    else replica.beats.push(message);
  });
  replicas.push(replica);
  return replica;
}

/** Waits until the replicas have so many slots, in any order. */
async function shares(of: readonly Replica[], expected: readonly number[]): Promise<void> {
  await poll(
    () => `${of.map(({ held }) => held).sort((a, b) => b - a)}` === `${expected}`,
    PATIENCE,
  );
}

/** Terms of a slot that overlap: a later token was used before an earlier one for the last time. */
function overlaps(): string[] {
  const beats = replicas.flatMap((replica) => replica.beats);
  return Array.from({ length: COUNT }, (_, slot) => {
    const own = beats.filter((beat) => beat.slot === slot).sort((a, b) => a.at - b.at);
    return own.flatMap(({ token, at }, i) => {
      const before = own[i - 1];
      if (before === undefined || before.token <= token) return [];
      return [`slot ${slot}: token ${token} after ${before.token} at ${at}`];
    });
  }).flat();
}

describe.each([
  ["files", async () => folder],
  ["PostgreSQL", () => makeDatabase(requiredUrl("DATABASE_URL"))],
  ["MariaDB", () => makeMySqlDatabase(requiredUrl("MYSQL_URL"))],
  ["Redis", async () => requiredUrl("REDIS_URL")],
] as const)("replicas with slots in %s", (kind, makeUrl) => {
  let url: string;

  beforeAll(async () => {
    url = await makeUrl();
    if (kind === "Redis") await oldEnough(url, LEASE);
  });

  it("share them evenly, and never two work on one, while they come, die, stand still and go", async () => {
    const [a, b] = [start(kind, url), start(kind, url)];
    await shares([a, b], [4, 4]);
    const c = start(kind, url);
    await shares([a, b, c], [3, 3, 2]);
    a.child.kill("SIGKILL");
    await shares([b, c], [4, 4]);
    b.child.kill("SIGSTOP");
    await shares([c], [8]);
    const suspendedAt = Math.max(...b.beats.map(({ at }) => at));
    b.child.kill("SIGCONT");
    await shares([b, c], [4, 4]);
    await poll(() => b.beats.some(({ at }) => at > suspendedAt), PATIENCE);
    b.child.send("stop");
    await shares([c], [8]);
    const slots = new Set(c.beats.map(({ slot }) => slot));
    expect([...slots].sort()).toEqual(Array.from({ length: COUNT }, (_, slot) => slot));
    expect(overlaps()).toEqual([]);
  });
});
