import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { isAlive, survivors } from "../../../../test/processes.ts";
import type { Snapshot } from "../../src/supervisor/web/snapshot.ts";
import { SupervisorProgram } from "./supervisor-program.ts";
import { Team } from "./team.ts";
import { isBrowserMissing, PATIENCE, PATIENT, rowOf, visit } from "./web/browser.ts";

/** The processes that run with these arguments. */
function pidsOf(args: string): readonly string[] {
  const { stdout } = spawnSync("ps", ["-e", "-o", "pid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((row) => {
    const [, pid, command = ""] = /^ *(\d+) +[^Z]\S* +(.*)$/.exec(row) ?? [];
    return pid !== undefined && command === args ? [pid] : [];
  });
}

function leaderOf({ leader, replicas }: Snapshot) {
  const { identity = "", token = -1 } = leader ?? {};
  const { pid = 0 } = replicas.find((replica) => replica.identity === identity) ?? {};
  return { identity, token, pid };
}

function pidOf({ processes }: Snapshot, name: string): number | undefined {
  return processes.find((process) => process.name === name)?.pid;
}

/** Whether somebody leads, after a token, and has started everything. */
const isLedAfter = (token: number) => (snapshot: Snapshot) =>
  leaderOf(snapshot).pid > 0 &&
  leaderOf(snapshot).token > token &&
  pidOf(snapshot, "polite") !== undefined &&
  pidOf(snapshot, "stubborn") !== undefined;

const isStandby = (name: string) => (snapshot: Snapshot) =>
  snapshot.replicas.some(({ identity, role }) => identity === name && role === "standby");

/**
 * What the program does, and what its page shows of it. Supervisors, processes, lock, browser and time are
 * real. All that is waited for is a condition.
 */
export function testProgram(): void {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-page-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  describe.skipIf(isBrowserMissing)("the page of the program", PATIENT, () => {
    it("shows a crash loop as it happens, its end, an edit, and the end of the program", async ({
      expect,
    }) => {
      const flag = join(directory, "flag");
      const mended = `sleep ${800_000 + process.pid}`;
      const script = `test -e ${flag} && exec ${mended}; echo no flag >&2; exit 1`;
      const crasher = `  crasher: { command: sh, args: [-c, "${script}"] }\n`;
      const head = "backoff: { duration: 200ms, factor: 2, cap: 2s, resetAfter: 1m }\nprocesses:\n";
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
      const rungs = row.locator(".over");
      for (const count of [1, 2, 3, 4]) await rungs.nth(count - 1).waitFor({ state: "attached" });
      const heights = await row
        .locator(".planned")
        .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
      expect(heights.slice(0, 4)).toEqual(heights.slice(0, 4).toSorted((a, b) => a - b));
      expect(heights[3]).toBeGreaterThan(2 * (heights[0] ?? Number.NaN));

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

  // Where there is a browser, what its page shows is looked at, too.
  describe.skipIf(process.platform !== "linux")("three replicas", PATIENT, () => {
    it("hand over from a leader that is killed, then from one that is asleep, and run nothing twice", async ({
      expect,
    }) => {
      await using team = Team.in(directory, {
        polite: {},
        stubborn: { ignoresSigterm: true },
        crasher: { life: 0.3 },
      });
      const namesOf = (starts: readonly { name: string }[]) =>
        starts.flatMap(({ name }) => (name === "crasher" ? [] : [name])).toSorted();
      const first = await team.shows(isLedAfter(-1));
      await using visitor = isBrowserMissing ? undefined : await visit(await team.url);
      const page = visitor?.page;
      const killed = leaderOf(first);
      await page?.getByText(`${killed.identity} leads token ${killed.token}`).waitFor();
      const standbys = page?.getByRole("listitem", { name: /, standby$/ });
      if (standbys) await expect.poll(() => standbys.count(), { timeout: PATIENCE }).toBe(2);
      await expect.poll(() => namesOf(team.starts()), { timeout: PATIENCE }).toHaveLength(2);
      const orphans = [pidOf(first, "polite") ?? 0, pidOf(first, "stubborn") ?? 0];
      process.kill(killed.pid, "SIGKILL");

      const hasNotText = killed.identity;
      await page?.locator(".leader", { hasText: /replica-\d leads/, hasNotText }).waitFor();
      if (page) await rowOf(page, "polite").getByText("Running", { exact: true }).waitFor();
      const second = await team.shows(isLedAfter(killed.token));
      expect(leaderOf(second).identity).not.toBe(killed.identity);
      expect(orphans.filter(isAlive)).toEqual([]);
      await expect
        .poll(() => namesOf(team.starts()), { timeout: PATIENCE })
        .toEqual(["polite", "polite", "stubborn", "stubborn"]);

      // So the first thing that it finds when it wakes up is a start that is due.
      const waiting = await team.shows(({ processes }) =>
        processes.some(({ phase }) => phase === "CrashLoopBackOff"),
      );
      const asleep = leaderOf(waiting);
      process.kill(asleep.pid, "SIGSTOP");
      const startsBefore = team.starts().length;
      const third = await team.shows(isLedAfter(asleep.token));
      await page?.getByText(`${leaderOf(third).identity} leads token`).waitFor();
      await team.started(startsBefore + 3);
      process.kill(asleep.pid, "SIGCONT");
      const last = await team.shows(isStandby(asleep.identity));
      expect(leaderOf(last).pid).not.toBe(asleep.pid);
      await team.started(team.starts().length + 2);
      await team.shows(isStandby(killed.identity));
      const restarted = page?.getByRole("listitem", { name: `${killed.identity}, standby` });
      await restarted?.getByText("restarts 1").waitFor();

      expect(visitor?.problems ?? []).toEqual([]);
      expect(await team.stop()).toBe(0);
      await page?.getByRole("status").filter({ hasText: "disconnected" }).waitFor();
      expect(team.overlaps()).toEqual([]);
      const parents = team
        .starts()
        .slice(startsBefore)
        .map(({ parent }) => parent);
      expect(parents).not.toContain(asleep.pid);
      expect(await survivors(team.starts().map(({ pid }) => pid))).toEqual([]);
      expect(readdirSync(join(team.lock, "processes"))).toEqual([]);
    });
  });
}
