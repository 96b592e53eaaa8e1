import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { isAlive, survivors } from "../../../../test/processes.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import type { Snapshot } from "../../src/supervisor/web/snapshot.ts";
import { PATIENCE, PATIENT, rowOf, visit } from "../web/browser.ts";
import { SupervisorProgram } from "./supervisor-program.ts";
import { type Leader, leaderOf, Team } from "./team.ts";

/** The processes that run with these arguments. */
function pidsOf(args: string): readonly string[] {
  const { stdout } = spawnSync("ps", ["-e", "-o", "pid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((row) => {
    const [, pid, command = ""] = /^ *(\d+) +[^Z]\S* +(.*)$/.exec(row) ?? [];
    return pid !== undefined && command === args ? [pid] : [];
  });
}

const NAMES = ["polite", "stubborn", "crasher"];

/** Whether the page shows a leader after a token, and that it has started everything. */
const isLedAfter = (token: number) => (shown: Snapshot) =>
  (leaderOf(shown)?.token ?? -1) > token &&
  ["polite", "stubborn"].every((name) =>
    shown.processes.some((process) => process.name === name && process.pid !== undefined),
  );

/** Whether the page shows that a replica follows another leader, or leads again, after a term. */
const isBackAfter =
  ({ identity, token }: Leader) =>
  (shown: Snapshot) =>
    shown.replicas.some((replica) => replica.identity === identity && replica.role === "standby") ||
    (shown.leader?.identity === identity && shown.leader.token > token);

/**
 * What the program does, and what its page shows of it. Supervisors, processes, lock, browser and time are
 * real. All that is waited for is a condition.
 */
export function testProgram(): void {
  const directory = tempFolder();

  describe("the page of the program", PATIENT, () => {
    it("shows a crash loop as it happens, its end, an edit, and the end of the program", async ({
      expect,
    }) => {
      const flag = join(directory, "flag");
      const mended = `sleep ${800_000 + process.pid}`;
      const script = `test -e ${flag} && exec ${mended}; echo no flag >&2; exit 1`;
      const crasher = `  crasher: { command: sh, args: [-c, "${script}"] }\n`;
      // The bars show the last ten waits. With this cap they last for minutes, so they still show the
      // first four to a browser that is slow.
      const head =
        "backoff: { duration: 200ms, factor: 2, cap: 30s, resetAfter: 1h }\nprocesses:\n";
      const file = join(directory, "crasher.yaml");
      writeFileSync(file, `${head}${crasher}`);
      await using program = new SupervisorProgram(["--file", file, "--forever"]);
      const [, url = ""] = await program.printed(/its page: (http:\S+)\n/);
      await using visitor = await visit(url);
      const { page } = visitor;

      const row = rowOf(page, "crasher");
      await row.getByText("CrashLoopBackOff", { exact: true }).waitFor();
      await row.getByText(/code 1 after \w+, "no flag"/).waitFor();
      await row.getByText(/starts (in|now)/).waitFor();
      const bars = row.locator(".over");
      for (const count of [1, 2, 3, 4]) await bars.nth(count - 1).waitFor({ state: "attached" });
      const heights = await row
        .locator(".planned")
        .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
      expect(heights.slice(0, 4)).toEqual(heights.slice(0, 4).toSorted((a, b) => a - b));
      expect(heights[3]).toBeGreaterThan(1.5 * (heights[0] ?? Number.NaN));

      writeFileSync(flag, "");
      await expect.poll(() => pidsOf(mended).length, { timeout: PATIENCE }).toBe(1);
      await row.getByText(pidsOf(mended)[0] ?? "", { exact: true }).waitFor();
      await row.getByText("Running", { exact: true }).waitFor();
      const waits = (await row.getByRole("img").getAttribute("aria-label")) ?? "";
      const measured = waits.match(/measured \S+ \(\S+\)/g) ?? [];
      expect(measured.length).toBeGreaterThanOrEqual(4);
      for (const wait of measured) expect(wait).toMatch(/\(\+\d+ms\)$/);
      expect(await row.getByText(/starts (in|now)/).count()).toBe(0);

      writeFileSync(file, `${head}${crasher}  newcomer: { command: sleep, args: ["1000"] }\n`);
      await rowOf(page, "newcomer").getByText("Running", { exact: true }).waitFor();
      writeFileSync(file, `${head}  newcomer: { command: sleep, args: ["1000"] }\n`);
      await row.waitFor({ state: "detached" });
      await page.getByRole("listitem").filter({ hasText: "it left the manifest" }).waitFor();
      expect(visitor.problems).toEqual([]);

      program.child.kill("SIGTERM");
      expect(await program.exited).toBe(0);
      await page.getByRole("status").filter({ hasText: "disconnected" }).waitFor();
      await page.locator("main.stale").waitFor();
    });
  });

  describe.skipIf(process.platform !== "linux")("three replicas", PATIENT, () => {
    // A busy machine may take the lease from any leader at any time. So nothing here depends on which
    // replica leads, or on how often that changes: each start is judged by the token of its term.
    it("hand over from a killed leader, then from a suspended one, and run nothing twice", async ({
      expect,
    }) => {
      await using team = Team.in(directory, {
        polite: {},
        stubborn: { ignoresSigterm: true },
        crasher: { life: 0.3 },
      });
      await team.shows(isLedAfter(-1));
      await using visitor = await visit(await team.url);
      const { page } = visitor;
      /** The page names the leader of this moment. */
      const isNamed = async () => {
        const { identity, token } = leaderOf(await team.state()) ?? {};
        return await page.getByText(`${identity} leads token ${token}`).count();
      };
      const standbys = page.getByRole("listitem", { name: /, standby$/ });
      await expect.poll(() => standbys.count(), { timeout: PATIENCE }).toBe(2);
      await expect.poll(isNamed, { timeout: PATIENCE }).toBe(1);

      await team.startedAfter(-1, NAMES);
      const killed = await team.strike("SIGKILL", isLedAfter(-1));
      await team.startedAfter(killed.token, NAMES);
      const orphans = team.starts().filter(({ token }) => token <= killed.token);
      expect(orphans.filter(({ pid }) => isAlive(pid))).toEqual([]);
      await expect.poll(isNamed, { timeout: PATIENCE }).toBe(1);
      await rowOf(page, "polite").getByText("Running", { exact: true }).waitFor();

      // So the first thing that it finds when it wakes up is a start that is due.
      const asleep = await team.strike("SIGSTOP", ({ processes }) =>
        processes.some(({ phase }) => phase === "CrashLoopBackOff"),
      );
      await team.startedAfter(asleep.token, NAMES);
      await expect.poll(isNamed, { timeout: PATIENCE }).toBe(1);
      process.kill(asleep.pid, "SIGCONT");
      await team.shows(isBackAfter(asleep));
      const { token: latest = 0 } = team.starts().at(-1) ?? {};
      const crashes = () => team.starts().filter(({ token }) => token >= latest).length;
      const before = crashes();
      await expect.poll(crashes, { timeout: PATIENCE }).toBeGreaterThanOrEqual(before + 2);
      await team.shows(isBackAfter(killed));
      const name = new RegExp(`^${killed.identity}, `);
      await page
        .getByRole("listitem", { name })
        .getByText(/restarts [1-9]/)
        .waitFor();

      expect(visitor.problems).toEqual([]);
      expect(await team.stop()).toBe(0);
      await page.getByRole("status").filter({ hasText: "disconnected" }).waitFor();
      expect(team.overlaps()).toEqual([]);
      const tokens = team.starts().map(({ token }) => token);
      expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
      const lasting = team.starts().filter(({ name }) => name !== "crasher");
      const terms = lasting.map(({ name, token }) => `${name} in term ${token}`);
      expect(terms).toEqual([...new Set(terms)]);
      expect(await survivors(team.starts().map(({ pid }) => pid))).toEqual([]);
      expect(readdirSync(join(team.lock, "processes"))).toEqual([]);
    });
  });
}
