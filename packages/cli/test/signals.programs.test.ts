import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive, survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { effectOf, signalsWith } from "../src/signals.ts";
import { Holdfast, MAIN } from "./holdfast.ts";
import { manifestFile, Supervised } from "./run/supervised.ts";

const HANDED_ON = signalsWith("end", "pass");
/** Those that end a program of Node which does not catch them, or stop it. */
const END = signalsWith("end");
const KEPT = signalsWith("none");

/** Says which signals it gets, and ends at SIGTERM. */
const LISTENER = `
for (const name of ${JSON.stringify([...HANDED_ON, ...KEPT])}) process.on(name, () => console.log("got " + name + "."));
process.on("SIGTERM", () => process.exit(5));
setInterval(() => {}, 1_000);
console.log("up", process.pid);
`;
const COMMAND = ["--", process.execPath, "-e", LISTENER];

test("every signal of this system is stop, end, pass, none or default", () => {
  const names = Object.keys(constants.signals) as NodeJS.Signals[];
  expect(names.filter((name) => effectOf(name) === undefined)).toEqual([]);
  const caught = new Set(signalsWith("stop", "end", "pass", "none"));
  const others = names.filter((name) => !caught.has(name) && !["SIGIOT", "SIGPOLL"].includes(name));
  expect(others.toSorted()).toEqual([
    "SIGBUS",
    "SIGCHLD",
    "SIGFPE",
    "SIGILL",
    "SIGKILL",
    "SIGPIPE",
    "SIGSEGV",
    "SIGSTOP",
    "SIGSYS",
    "SIGTRAP",
    "SIGTTIN",
    "SIGTTOU",
  ]);
});

describe.each([
  ["retry", ["retry"]],
  ["wait", ["wait", "exec:true"]],
  ["wait --server", ["wait", "--server", "exec sleep 1000", "exec:true"]],
])("a signal to holdfast %s", (_, words) => {
  test("reaches the command, and ends nothing, unless it asks to stop", async () => {
    const run = new Holdfast([...words, ...COMMAND]);
    await run.printed(/up/);
    for (const name of [...HANDED_ON, ...KEPT, ...HANDED_ON]) {
      const before = run.stdout.length;
      run.kill(name);
      if (KEPT.includes(name)) continue;
      await expect.poll(() => run.stdout.slice(before)).toContain(`got ${name}.`);
    }
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(5);
    expect(KEPT.filter((name) => run.stdout.includes(`got ${name}.`))).toEqual([]);
  });
});

test.each(END)("%s ends a wait and a delay", async (name) => {
  const wait = new Holdfast(["wait", "file:/nonexistent"]);
  await wait.printed(/does not exist/);
  const delay = new Holdfast(["retry", "--delays", "1h", "--", "false"]);
  await delay.printed(/again in/);
  for (const run of [wait, delay]) {
    for (const ignored of signalsWith("pass", "none")) run.kill(ignored);
    run.kill(name);
    expect((await run.ended()).code).toBe(128 + constants.signals[name]);
  }
});

describe("a signal to holdfast run", () => {
  const SLEEPER = "processes: { steady: { command: [sleep, 1000] } }";

  test.each(END.filter((name) => name !== "SIGALRM"))(
    "%s stops all, instead of leaving them behind",
    async (name) => {
      const run = new Supervised(SLEEPER);
      const pid = await run.pidOf("steady");
      run.kill(name);
      expect((await run.ended()).code).toBe(128 + constants.signals[name]);
      expect(await survivors([pid])).toEqual([]);
    },
  );

  test("leaves them running: all others that do not ask to stop", async () => {
    const run = new Supervised(SLEEPER);
    const pid = await run.pidOf("steady");
    const others = signalsWith("pass", "none").filter((name) => name !== "SIGTSTP");
    for (const name of [...others, "SIGALRM"] as const) run.kill(name);
    run.kill("SIGHUP"); // It is handled after them.
    await run.printed(/nothing to change/);
    expect(isAlive(pid)).toBe(true);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(143);
  });
});

describe("the rest of a group whose first process has crashed", () => {
  /** Goes on at SIGTERM until its file is there, and says what it got. */
  const rest = (file: string): string =>
    `trap "echo got TERM" TERM; trap "echo got USR2" USR2; echo up; while ! [ -e ${file} ]; do sleep 0.05; done`;

  test("gets SIGTERM once, although an attempt is told to stop then", async () => {
    const file = join(tempFolder(onTestFinished), "end");
    const line = `sh -c '${rest(file)}' & while ! [ -e ${file}.up ]; do sleep 0.05; done; exit 1`;
    const run = new Holdfast(["retry", "--shell", line]);
    await run.printed(/up/);
    spawn("touch", [`${file}.up`]);
    await run.printed(/got TERM/);
    run.kill("SIGTERM");
    await expect.poll(() => isPending(run.child.pid)).toBe(false);
    run.kill("SIGUSR2");
    await run.printed(/got USR2/);
    spawn("touch", [file]);
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([1, "up\ngot TERM\ngot USR2\n"]);
  });

  test("gets SIGTERM once, although it was told to stop before", async () => {
    const file = join(tempFolder(onTestFinished), "end");
    const line = `trap "exit 1" TERM; sh -c '${rest(file)}' & wait`;
    const run = new Holdfast(["retry", "--shell", line]);
    await run.printed(/up/);
    run.kill("SIGTERM");
    await run.printed(/got TERM/);
    await expect.poll(() => childrenOf(run.child.pid)).toEqual([]);
    run.kill("SIGUSR2");
    await run.printed(/got USR2/);
    spawn("touch", [file]);
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([1, "up\ngot TERM\ngot USR2\n"]);
  });

  test("gets SIGTERM once, although the supervisor is told to stop then", async () => {
    const file = join(tempFolder(onTestFinished), "end");
    const line = `sh -c '\\''${rest(file)}'\\'' & while ! [ -e ${file}.up ]; do sleep 0.05; done; exit 1`;
    const run = new Supervised(
      `processes: { web: { shell: '${line.replaceAll("'\\''", "''")}' } }`,
    );
    await run.printed(/up/);
    spawn("touch", [`${file}.up`]);
    await run.printed(/got TERM/);
    run.kill("SIGTERM");
    await run.printed(/web: Terminating/);
    spawn("touch", [file]);
    const { stdout } = await run.ended();
    expect(stdout.match(/got TERM/g)).toHaveLength(1);
  });
});

/** Whether a signal waits until a process has time for it. */
function isPending(pid = 0): boolean {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return /^(?:SigPnd|ShdPnd):\s+0*[1-9a-f]/m.test(status);
}

/** The children of a process that are no zombies. */
function childrenOf(pid = 0): number[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return pids.map(Number).filter(isAlive);
}

const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

describe.skipIf(!hasTerminal)("a terminal that closes", () => {
  test.each([
    ["run", () => ["run", manifestFile("processes: { web: { command: [sleep, 1000] } }")]],
    ["run -v", () => ["run", "-v", manifestFile("processes: { web: { command: [sleep, 1000] } }")]],
    ["retry", () => ["retry", "--", "sleep", "1000"]],
    ["wait", () => ["wait", "exec:sleep 1000"]],
    ["wait, with a command", () => ["wait", "exec:true", "--", "sleep", "1000"]],
  ])("ends holdfast %s with 129", async (_, args) => {
    const folder = tempFolder(onTestFinished);
    const [code, shell] = [join(folder, "code"), join(folder, "shell")];
    // As a shell does: it outlives its terminal, and tells its jobs.
    writeFileSync(
      shell,
      `trap : HUP; "$@" </dev/tty & wait $!; kill -HUP 0; wait $!; echo $? > ${code}`,
    );
    const words = ["sh", shell, process.execPath, MAIN, ...args()].map((word) => `'${word}'`);
    const script = spawn("script", ["-qefc", words.join(" "), "/dev/null"], {
      stdio: ["pipe", "ignore", "ignore"],
      env: { ...process.env, XDG_RUNTIME_DIR: folder, CI: "" },
    });
    await expect.poll(() => hasSleeper(script.pid)).toBe(true);
    script.kill("SIGKILL");
    await expect.poll(() => existsSync(code) && readFileSync(code, "utf8")).toMatch(/\n/);
    expect(readFileSync(code, "utf8")).toBe("129\n");
  });
});

/** Whether a descendant of a process is `sleep`. */
function hasSleeper(pid = 0): boolean {
  return childrenOf(pid).some(
    (child) => readFileSync(`/proc/${child}/comm`, "utf8") === "sleep\n" || hasSleeper(child),
  );
}
