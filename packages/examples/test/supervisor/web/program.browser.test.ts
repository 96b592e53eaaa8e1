import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, describe, it } from "vitest";
import type { Snapshot } from "../../../src/supervisor/web/snapshot.ts";
import { Program, survivors } from "../program.ts";
import { isBrowserMissing, PATIENCE, PATIENT, rowOf, useBrowser, visit } from "./browser.ts";

// Browser, supervisors, processes and time are real. All that is waited for is a condition.

useBrowser();

const directory = mkdtempSync(join(tmpdir(), "holdfast-page-"));
afterAll(() => rmSync(directory, { recursive: true }));

let files = 0;
function write(text: string): string {
  const file = join(directory, `${++files}.yaml`);
  writeFileSync(file, text);
  return file;
}

/** The page of a program that runs. */
async function pageOf(program: Program): Promise<string> {
  const [, url = ""] = await program.printed(/its page: (http:\S+)\n/);
  return url;
}

const stateOf = async (url: string) => (await (await fetch(`${url}state`)).json()) as Snapshot;

const statusIs = (page: Page, text: string) =>
  page.getByRole("status").filter({ hasText: text }).waitFor();

/** The processes that run with these arguments. */
function pidsOf(args: string): readonly string[] {
  const { stdout } = spawnSync("ps", ["-e", "-o", "pid=,stat=,args="], { encoding: "utf8" });
  return stdout.split("\n").flatMap((row) => {
    const [, pid, command = ""] = /^ *(\d+) +[^Z]\S* +(.*)$/.exec(row) ?? [];
    return pid !== undefined && command === args ? [pid] : [];
  });
}

describe.skipIf(isBrowserMissing)("the page of the program", PATIENT, () => {
  it("shows a crash loop as it happens, its end, an edit, and the end of the program", async ({
    expect,
  }) => {
    const flag = join(directory, "flag");
    const mended = `sleep ${800_000 + process.pid}`;
    const script = `test -e ${flag} && exec ${mended}; echo no flag >&2; exit 1`;
    const crasher = `  crasher: { command: sh, args: [-c, "${script}"] }\n`;
    const head = "backoff: { duration: 200ms, factor: 2, cap: 2s, resetAfter: 1m }\nprocesses:\n";
    const file = write(`${head}${crasher}`);
    await using program = new Program(["--file", file, "--forever"]);
    await using visitor = await visit(await pageOf(program));
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
    await statusIs(page, "disconnected");
    await page.locator("main.stale").waitFor();
  });

  it("shows a hand-over as it happens: the leader is killed, another one takes over", async ({
    expect,
  }) => {
    const seconds = `${900_000 + process.pid}`;
    const file = write(`processes: { only: { command: sleep, args: ["${seconds}"] } }\n`);
    const running = () => pidsOf(`sleep ${seconds}`);
    await using program = new Program(["--file", file, "--forever", "--replicas", "3"]);
    const url = await pageOf(program);
    await using visitor = await visit(url);
    const { page } = visitor;
    const only = rowOf(page, "only");
    await only.getByText("Running", { exact: true }).waitFor();
    await expect
      .poll(() => page.getByRole("listitem", { name: /, standby$/ }).count(), { timeout: PATIENCE })
      .toBe(2);

    const { leader, replicas, processes } = await stateOf(url);
    const killed = leader?.identity ?? "nobody";
    const pid = replicas.find(({ identity }) => identity === killed)?.pid ?? Number.NaN;
    await page.getByText(`${killed} leads token ${leader?.token}`).waitFor();
    process.kill(pid, "SIGKILL");

    const next = page.locator(".leader", { hasText: /replica-\d leads/, hasNotText: killed });
    await next.waitFor();
    await only.getByText("Running", { exact: true }).waitFor();
    const after = await stateOf(url);
    expect(after.leader?.identity).not.toBe(killed);
    expect(after.leader?.token).toBeGreaterThan(leader?.token ?? Number.NaN);
    const former = processes.flatMap((process) => process.pid ?? []);
    expect(former).toHaveLength(1);
    expect(await survivors(former)).toEqual([]);
    expect(running()).toHaveLength(1);

    const restarted = page.getByRole("listitem", { name: `${killed}, standby` });
    await restarted.getByText("restarts 1").waitFor();
    expect(running()).toHaveLength(1);
    expect(visitor.problems).toEqual([]);

    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(0);
    await statusIs(page, "disconnected");
    expect(running()).toHaveLength(0);
  });
});
