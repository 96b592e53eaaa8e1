import { request } from "node:http";
import { realClock } from "@holdfast/clock";
import { poll } from "@holdfast/wait";
import { expect, it } from "vitest";
import type { State } from "../../src/dns-sync/board.ts";
import { Program } from "../program.ts";

const PATIENCE = 120_000;
/** How a program shows the token of the address that it printed. */
const tokenOf = (url: string) => ({
  authorization: `Bearer ${new URL(url).searchParams.get("token")}`,
});
const POLL = { timeout: PATIENCE, backoff: { duration: 100 }, clock: realClock };

it(
  "syncs its records, gets another leader after a kill, and leaves no process",
  async () => {
    const program = new Program("dns-sync/main.js", ["--records", "5"]);
    const [, url = ""] = await program.printed(/the page: (\S+)/);
    const state = async (): Promise<State> =>
      (await (await fetch(new URL("state", url))).json()) as State;
    const post = async (path: string): Promise<number> =>
      (await fetch(new URL(path, url), { method: "POST", headers: tokenOf(url) })).status;
    const holder = async () => (await state()).leases[0]?.holder;
    await poll(async () => (await state()).records.synced === 5, POLL);
    const leader = (await holder()) ?? "";
    const { replicas } = await state();
    expect(replicas).toHaveLength(3);
    expect(await post(`/kill?name=${leader}`)).toBe(200);
    await poll(async () => ![leader, "", undefined].includes(await holder()), POLL);
    const [lease] = (await state()).leases;
    const looks = lease?.spans.map(({ text }) => text).slice(-3);
    expect(looks).toEqual([leader, `${leader} is gone`, lease?.holder]);
    const [gone, taken] = lease?.spans.slice(-2).map(({ at }) => at) ?? [];
    expect((await state()).log.map(({ text }) => text)).toContain(
      `dns-sync: ${lease?.holder} takes over after ${(taken ?? 0) - (gone ?? 0)} ms`,
    );
    expect(await post("/add")).toBe(200);
    expect((await state()).replicas).toHaveLength(3);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
    for (const { pid = 0 } of replicas) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  },
  3 * PATIENCE,
);

it(
  "shares the slots among all replicas, also after a kill and when more come",
  async () => {
    const program = new Program("dns-sync/main.js", ["--records", "16", "--shards", "8"]);
    const [, url = ""] = await program.printed(/the page: (\S+)/);
    const state = async (): Promise<State> =>
      (await (await fetch(new URL("state", url))).json()) as State;
    const post = async (path: string): Promise<unknown> =>
      await fetch(new URL(path, url), { method: "POST", headers: tokenOf(url) });
    /** Waits until the replicas that are there hold so many slots each, and everything is in sync. */
    const holds = async (...shares: number[]): Promise<readonly string[]> =>
      await poll(async () => {
        const { leases, replicas, records } = await state();
        const names = replicas.map(({ name }) => name);
        const held = names.map((name) => leases.filter(({ holder }) => holder === name).length);
        const isShared = held.toSorted((a, b) => b - a).join() === shares.join();
        return isShared && records.synced === 16 && records.all === 16 && names;
      }, POLL);
    const [killed = ""] = await holds(3, 3, 2);
    await post(`/kill?name=${killed}`);
    expect(await holds(4, 4)).not.toContain(killed);
    await post("/edit");
    await post("/add");
    await post("/add");
    await holds(2, 2, 2, 2);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
  },
  3 * PATIENCE,
);

it(
  "obeys its own page only",
  async () => {
    await using program = new Program("dns-sync/main.js", ["--records", "1"]);
    const [, url = ""] = await program.printed(/the page: (\S+)/);
    const page = await fetch(url);
    expect([page.headers.get("content-type"), await page.text()]).toEqual([
      "text/html; charset=utf-8",
      expect.stringContaining("<title>dns-sync</title>"),
    ]);
    const ask = async (method: string, path: string, headers: Record<string, string>) =>
      await new Promise<number | undefined>((resolve, reject) => {
        const asked = request(new URL(path, url), { method, headers, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        asked.on("error", reject).end();
      });
    const { origin } = new URL(url);
    const token = tokenOf(url);
    const query = new URL(url).search;
    expect(await ask("POST", "/edit", { ...token, origin: "http://example.org" })).toBe(403);
    expect(await ask("POST", "/edit", { ...token, origin: "null" })).toBe(403);
    expect(await ask("POST", "/edit", { origin })).toBe(403);
    expect(await ask("POST", "/edit", { origin, authorization: "Bearer wrong" })).toBe(403);
    expect(await ask("POST", `/edit${query}`, { origin })).toBe(403);
    expect(await ask("POST", "/edit", { ...token, host: "example.org" })).toBe(421);
    expect(await ask("POST", "/constructor", { ...token, origin })).toBe(405);
    expect(await ask("GET", "/state", { host: "example.org" })).toBe(421);
    expect(await ask("GET", "/edit", token)).toBe(405);
    expect(await ask("POST", "/edit", { ...token, origin })).toBe(200);
  },
  3 * PATIENCE,
);

it("exits with 2 for a bad option before it starts anything", async () => {
  const program = new Program("dns-sync/main.js", ["--records", "0"]);
  expect(await program.exited).toBe(2);
});
