import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { poll } from "@holdfast/wait";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { oldEnough } from "../../../../services/redis.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { locksOf } from "./locks.mjs";

// Processes, servers and time are real here: the rows of the table in docs/leader-election.md.

const PROCESS = fileURLToPath(new URL("./leader-process.mjs", import.meta.url));
const LEASE = 2_000;
/** The lease began with a renewal, at most `renewDeadline`, 0.6 of the lease, before the end of its leader. */
const SHORTEST = 0.35 * LEASE;
const PATIENCE = { timeout: 60_000, backoff: { duration: 10 } };

interface Beat {
  readonly token: number;
  readonly at: number;
}

interface Member {
  readonly child: ChildProcess;
  readonly beats: Beat[];
  lost: number;
}

const members: Member[] = [];
afterEach(() => {
  for (const { child } of members.splice(0)) child.kill("SIGKILL");
});

function start(kind: string, url: string): Member {
  const child = fork(PROCESS, [kind, url, `${LEASE}`], { execArgv: [] });
  const member: Member = { child, beats: [], lost: 0 };
  child.on("message", (message: { token: number; at?: number }) => {
    if (message.at === undefined) member.lost++;
    else member.beats.push({ token: message.token, at: message.at });
  });
  members.push(member);
  return member;
}

const now = (): number => Number(process.hrtime.bigint()) / 1e6;
const leads = ({ beats }: Member): boolean => beats.length > 0;
const last = ({ beats }: Member) => beats.at(-1) as Beat;

/** Starts a leader, then another process that has stood by for a while. */
async function startTwo(kind: string, url: string): Promise<[Member, Member]> {
  const leader = start(kind, url);
  await poll(() => leads(leader), PATIENCE);
  const other = start(kind, url);
  const from = now();
  await poll(() => now() - from > LEASE && last(leader).at > from + LEASE / 2, PATIENCE);
  expect(leads(other)).toBe(false);
  return [leader, other];
}

describe.each([
  ["PostgreSQL", () => makeDatabase(requiredUrl("DATABASE_URL"))],
  ["MariaDB", () => makeMySqlDatabase(requiredUrl("MYSQL_URL"))],
  ["Redis", async () => requiredUrl("REDIS_URL")],
] as const)("two processes with a lock of %s", (kind, makeUrl) => {
  let url: string;

  beforeAll(async () => {
    url = await makeUrl();
    if (kind === "Redis") await oldEnough(url, LEASE);
  });

  it("the other one leads after the lease when the leader is killed", async () => {
    const [leader, other] = await startTwo(kind, url);
    const killed = now();
    leader.child.kill("SIGKILL");
    await poll(() => leads(other), PATIENCE);
    const [first] = other.beats as [Beat];
    expect(first.at - killed).toBeGreaterThan(SHORTEST);
    expect(first.at).toBeGreaterThan(last(leader).at);
    expect(first.token).toBeGreaterThan(last(leader).token);
  });

  it("the other one leads when the leader stands still, which sees `lost` when it continues", async () => {
    const [leader, other] = await startTwo(kind, url);
    const stopped = now();
    leader.child.kill("SIGSTOP");
    await poll(() => leads(other), PATIENCE);
    const [first] = other.beats as [Beat];
    leader.child.kill("SIGCONT");
    await poll(() => leader.lost === 1, PATIENCE);
    expect(first.at - stopped).toBeGreaterThan(SHORTEST);
    expect(last(leader).at).toBeLessThan(first.at);
    expect(first.token).toBeGreaterThan(last(leader).token);
  });

  it("no two processes lead with the same token after the record was removed", async () => {
    const leader = start(kind, url);
    await poll(() => leads(leader), PATIENCE);
    const { remove, end } = await locksOf(kind, url);
    await remove("leader");
    const fresh = start(kind, url);
    await end();
    const removed = now();
    const all = () => [leader, fresh].flatMap(({ beats }) => beats);
    await poll(() => all().some(({ at }) => at > removed + 2 * LEASE), PATIENCE);
    for (const mine of leader.beats)
      for (const theirs of fresh.beats) expect(theirs.token).not.toBe(mine.token);
  });

  it("the leader stays when the record is removed; on Redis the next token is higher", async () => {
    const [leader, other] = await startTwo(kind, url);
    const { token } = last(leader);
    const { remove, end } = await locksOf(kind, url);
    await remove("leader");
    await end();
    const removed = now();
    const current = () => (leads(other) && last(other).token > last(leader).token ? other : leader);
    await poll(() => last(current()).at > removed + 2 * LEASE, PATIENCE);
    const next = current();
    if (kind === "Redis") expect(last(next).token).toBeGreaterThan(token);
    else expect([next, last(next).token]).toEqual([leader, token]);
    if (next === other) expect(last(leader).at).toBeLessThan(removed + LEASE);
  });
});
