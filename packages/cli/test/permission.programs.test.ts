import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive, survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { type Ended, Holdfast, limited, type RunOptions } from "./holdfast.ts";

// A holdfast of another user, and commands that become root, as with sudo. Only root may arrange that.

const NOBODY = 65_534;
const folder = tempFolder();
chmodSync(folder, 0o755);
const runtime = join(folder, "runtime");
mkdirSync(runtime);
const become = join(folder, "become");
const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
const asRoot = [become, "--reuid=0", "--regid=0", "--clear-groups"];

function canArrange(): boolean {
  if (process.getuid?.() !== 0 || process.platform !== "linux") return false;
  const setpriv = spawnSync("which", ["setpriv"], { encoding: "utf8" }).stdout.trim();
  if (setpriv === "") return false;
  copyFileSync(setpriv, become);
  chmodSync(become, 0o4755);
  chownSync(runtime, NOBODY, NOBODY);
  const [file = "", ...args] = [...asNobody, ...asRoot, "id", "-ru"];
  return spawnSync(file, args, { encoding: "utf8" }).stdout === "0\n";
}

const options: RunOptions = {
  within: asNobody,
  env: { XDG_RUNTIME_DIR: runtime, HOME: runtime },
};
/** A command of root that says its pid. It ends by itself long after the test. */
const COMMAND = [...asRoot, "sh", "-c", "echo up $$; exec sleep 600"];
const LINE = `exec ${asRoot.join(" ")} sh -c 'echo up $$ >&2; exec sleep 600'`;
const GRACE = ["--grace", "500ms"];

const UP = /up (\d+)/;

/** The pid of the command of root, which is killed after the test. */
async function pidIn(run: Holdfast): Promise<number> {
  const pid = Number((await run.printed(UP))[1]);
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
  });
  return pid;
}

/** The end of holdfast, although its command has its streams. */
async function endOf(run: Holdfast, pid: number): Promise<Ended> {
  if (run.child.exitCode === null) await once(run.child, "exit");
  process.kill(pid, "SIGKILL");
  return await run.ended();
}

function cannotStop(pid: number): string {
  return `cannot stop process ${pid} (sleep), which runs as user 0 (EPERM)`;
}

/** The process that could not be stopped, as it was told. It is killed. */
function lostIn(lines: readonly string[]): number {
  const pid = Number(/cannot stop process (\d+)/.exec(lines.join("\n"))?.[1]);
  if (pid > 0) process.kill(pid, "SIGKILL");
  return pid;
}

describe.skipIf(!canArrange())("a process that may not be signalled", () => {
  test.each([
    ["retry, at its deadline", "--deadline"],
    ["retry, after an attempt", "--timeout"],
  ])("is not waited for: %s", async (_, option) => {
    const args = [...GRACE, "--", ...COMMAND];
    const start = (limit: string) => new Holdfast(["retry", option, limit, ...args], options);
    const { run } = await limited(UP, start);
    const pid = await pidIn(run);
    const ended = await endOf(run, pid);
    expect([ended.code, ended.lines.includes(cannotStop(pid))]).toEqual([124, true]);
    expect(ended.stdout.match(/up/g)).toHaveLength(1); // No attempt meets it.
  });

  test.each([
    ["retry", ["retry", ...GRACE, "--", ...COMMAND]],
    ["wait", ["wait", ...GRACE, "exec:true", "--", ...COMMAND]],
  ])("is not waited for at SIGTERM: %s", async (_, args) => {
    const run = new Holdfast(args, options);
    const pid = await pidIn(run);
    run.kill("SIGTERM");
    const { code, lines } = await endOf(run, pid);
    expect([code, lines.includes(cannotStop(pid))]).toEqual([125, true]);
  });

  test("is not waited for at a second SIGTERM", async () => {
    const run = new Holdfast(["retry", "--grace", "10m", "--", ...COMMAND], options);
    const pid = await pidIn(run);
    run.kill("SIGTERM");
    const again = setInterval(() => run.kill("SIGTERM"), 1_100);
    const { code, lines } = await endOf(run, pid);
    clearInterval(again);
    expect([code, lines.includes(cannotStop(pid))]).toEqual([125, true]);
  });

  test("is not waited for as a server, and is no success", async () => {
    const up = join(runtime, "up-server");
    const server = LINE.replace("echo", `touch ${up}; echo`);
    const args = ["wait", ...GRACE, "--server", server, `exec:test -e ${up}`, "--", "true"];
    const run = new Holdfast(args, options);
    const pid = await pidIn(run);
    const { code, lines } = await endOf(run, pid);
    expect([code, lines.at(-1)]).toEqual([125, cannotStop(pid)]);
  });

  test("ends a wait as a check, and is not started twice", async () => {
    const args = [
      "wait",
      "--attempt-timeout",
      "1s",
      `exec:${LINE.replace(">&2", `> ${runtime}/up`)}`,
    ];
    const { code, lines } = await new Holdfast(args, options).ended();
    const pid = lostIn(lines);
    expect([code, lines.slice(-2)]).toEqual([
      125,
      [`exec:exec…: ${cannotStop(pid)}`, "exec:exec…: an earlier check runs still"],
    ]);
    expect(await survivors([pid])).toEqual([]);
  });

  test.each([
    ["the time limit of a wait", ["wait", "--timeout", "LIMIT", "CHECK"], 124],
    ["SIGTERM during a wait", ["wait", "CHECK"], 143],
    ["the command of a wait for any", ["wait", "--any", "CHECK", "exec:true", "--", "true"], 125],
  ])("is named as a check: %s", async (name, words, code) => {
    const up = join(runtime, `up-${code}`);
    const check = `exec:${LINE.replace(">&2", `> ${up}`)}`;
    // The other target is ready once the check runs.
    const other = `exec:test -s ${up}`;
    const start = (LIMIT: string) => {
      const values = { LIMIT, CHECK: check, "exec:true": other };
      return new Holdfast(
        words.map((word) => values[word as keyof typeof values] ?? word),
        options,
      );
    };
    const run = words.includes("LIMIT")
      ? (await limited(/cannot stop process/, start)).run
      : start("");
    if (name.startsWith("SIGTERM")) {
      await expect.poll(() => existsSync(up) && readFileSync(up, "utf8")).toMatch(UP);
      run.kill("SIGTERM");
    }
    const ended = await run.ended();
    const pid = lostIn(ended.lines);
    expect([ended.code, ended.lines.includes(`exec:exec…: ${cannotStop(pid)}`)]).toEqual([
      code,
      true,
    ]);
    expect(await survivors([pid])).toEqual([]);
  });

  test("is named as a probe of run, and is no success", async () => {
    const file = join(folder, "probe.yaml");
    const readiness = { exec: LINE.replace(">&2", `> ${runtime}/probe`), timeout: "500ms" };
    writeFileSync(
      file,
      JSON.stringify({ processes: { web: { command: ["sleep", "600"], readiness } } }),
    );
    const start = (limit: string) => new Holdfast(["run", file, "--for", limit], options);
    const { run } = await limited(/cannot stop process/, start);
    const { code, lines } = await run.ended();
    const pid = lostIn(lines);
    expect([code, lines.includes(`exec:exec…: ${cannotStop(pid)}`)]).toEqual([125, true]);
    expect(await survivors([pid])).toEqual([]);
  });

  test("is not waited for by run, and is no success; the next start says so, and goes on", async () => {
    const file = join(folder, "manifest.yaml");
    const command = JSON.stringify(COMMAND);
    writeFileSync(file, `grace: 500ms\nprocesses: { web: { command: ${command} } }\n`);
    const start = (limit: string) => new Holdfast(["run", file, "--for", limit], options);
    const { run } = await limited(UP, start);
    const pid = await pidIn(run);
    if (run.child.exitCode === null) await once(run.child, "exit");
    expect(run.child.exitCode).toBe(125);
    expect(run.stderr).toContain(`holdfast: web: ${cannotStop(pid)}\n`);

    writeFileSync(file, "processes: { other: { shell: 'echo other', restart: Never } }\n");
    const ended = await new Holdfast(["run", file, ...GRACE], options).ended();
    expect([ended.code, ended.stdout, ended.lines.includes(cannotStop(pid))]).toEqual([
      0,
      "other | other\n",
      true,
    ]);
  });

  test("is not started again by run, which would make two of it", async () => {
    const file = join(folder, "liveness.yaml");
    const failing = join(folder, "failing");
    const liveness = `{ exec: 'test ! -e ${failing}', period: 100ms, timeout: 30s, failures: 1 }`;
    const spec = `{ command: ${JSON.stringify(COMMAND)}, grace: 500ms, liveness: ${liveness} }`;
    writeFileSync(file, `processes: { web: ${spec} }\n`);
    const run = new Holdfast(["run", file], options);
    const pid = await pidIn(run);
    writeFileSync(failing, "");
    const { code, stdout, lines } = await endOf(run, pid);
    expect([code, lines.includes(`web: Failed: ${cannotStop(pid)}`)]).toEqual([1, true]);
    expect(stdout.match(/up/g)).toHaveLength(1);
  });

  test("does not hold up the start after a supervisor was killed", async () => {
    const file = join(folder, "killed.yaml");
    writeFileSync(file, `processes: { web: { command: ${JSON.stringify(COMMAND)} } }\n`);
    const run = new Holdfast(["run", file], options);
    const pid = await pidIn(run);
    run.kill("SIGKILL");
    await once(run.child, "exit");
    writeFileSync(file, "processes: { other: { shell: 'echo other', restart: Never } }\n");
    const ended = await new Holdfast(["run", file, ...GRACE], options).ended();
    expect([ended.code, ended.stdout, ended.lines.includes(cannotStop(pid))]).toEqual([
      0,
      "other | other\n",
      true,
    ]);
  });
});
