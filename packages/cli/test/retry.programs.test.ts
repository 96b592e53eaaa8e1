import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive, survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Holdfast, holdfast, limited, sh } from "./holdfast.ts";

const fast = ["retry", "--delay", "1ms", "--jitter", "none"];
const folder = () => tempFolder(onTestFinished);
const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

describe("holdfast retry", () => {
  test("counts all runs, tells the command its attempt, and returns its code", async () => {
    const line = "echo $HOLDFAST_ATTEMPT $HOLDFAST_LAST_EXIT; exit 7";
    expect(await holdfast([...fast, "--attempts", "3", ...sh(line)])).toEqual({
      code: 7,
      stdout: "1\n2 7\n3 7\n",
      lines: [
        "attempt 1 of 3: exit 7 after …, again in …",
        "attempt 2 of 3: exit 7 after …, again in …",
        "attempt 3 of 3: exit 7 after …",
        "gave up after 3 attempts in …",
      ],
    });
  });

  test("ends with the first success", async () => {
    const { code, lines } = await holdfast([...fast, ...sh("[ $HOLDFAST_ATTEMPT = 2 ]")]);
    expect([code, lines]).toEqual([0, ["attempt 1 of 5: exit 1 after …, again in …"]]);
  });

  test("prints nothing with --quiet", async () => {
    expect(await holdfast([...fast, "-q", "--attempts", "2", ...sh("exit 3")])).toEqual({
      code: 3,
      stdout: "",
      lines: [],
    });
  });

  test("waits the listed delays, and repeats the last one", async () => {
    const run = new Holdfast(["retry", "--attempts", "4", "--delays", "2ms,1ms", ...sh("exit 1")]);
    await run.ended();
    expect(run.stderr.match(/again in .*/g)).toEqual([
      "again in 2ms",
      "again in 1ms",
      "again in 1ms",
    ]);
  });

  test.each([
    [["--", "/nonexistent"], 127, "/nonexistent: not found after …, not retried"],
    [["--", "/etc/passwd"], 126, "/etc/passwd: not executable, see chmod +x after …, not retried"],
    [sh("exit 127"), 127, "exit 127 after …, not retried"],
    [["--not-on", "3", ...sh("exit 3")], 3, "exit 3 after …, not retried"],
    [["--on", "1,timeout", ...sh("exit 3")], 3, "exit 3 after …, not retried"],
    [
      ["--on-output", "/later/i", ...sh("echo never >&2; exit 3")],
      3,
      "exit 3 after …, not retried",
    ],
    [["--on", "SIGTERM", ...sh("kill -KILL $$")], 137, "killed by SIGKILL after …, not retried"],
  ])("does not retry %j", async (args, expected, line) => {
    const { code, lines } = await holdfast([...fast, "--attempts", "2", ...args]);
    expect([code, lines.at(-1)]).toEqual([expected, `attempt 1 of 2: ${line}`]);
  });

  test.each([
    [["--on", "3", ...sh("exit 3")], 3],
    [["--on", "127", "--", "/nonexistent"], 127],
    [["--on", "SIGKILL", ...sh("kill -KILL $$")], 137],
    [["--on", "137", ...sh("kill -KILL $$")], 137],
    [["--not-on", "4", ...sh("exit 3")], 3],
    [["--on-output", "/try later/i", ...sh("echo Try LATER >&2; exit 3")], 3],
    [["--buffer", "--on-output", "/later/", ...sh("echo later >&2; exit 3")], 3],
    [["--on", "timeout", "--timeout", "50ms", ...sh("sleep 1000")], 124],
  ])("retries %j", async (args, expected) => {
    const { code, lines } = await holdfast([...fast, "--attempts", "2", ...args]);
    expect([code, lines.at(-1)]).toEqual([expected, "gave up after 2 attempts in …"]);
  });

  test("runs a command until it fails", async () => {
    const { code, stdout } = await holdfast([
      ...fast,
      "--until-fails",
      "--attempts",
      "inf",
      ...sh("echo $HOLDFAST_ATTEMPT; [ $HOLDFAST_ATTEMPT != 3 ]"),
    ]);
    expect([code, stdout]).toEqual([1, "1\n2\n3\n"]);
  });

  test("prints only the output of the last attempt with --buffer", async () => {
    const line = "echo out $HOLDFAST_ATTEMPT; echo err $HOLDFAST_ATTEMPT >&2; exit 1";
    const { stdout, lines } = await holdfast([...fast, "--attempts", "2", "--buffer", ...sh(line)]);
    expect(stdout).toBe("out 2\n");
    expect(lines.filter((one) => one.startsWith("err"))).toEqual(["err 2"]);
  });

  test("gives each attempt the same stdin with --stdin, and none without", async () => {
    const args = [...fast, "--attempts", "2"];
    const line = "cat; exit 1";
    const given = await holdfast([...args, "--stdin", ...sh(line)], { input: "text\n" });
    expect(given.stdout).toBe("text\ntext\n");
    const none = await holdfast([...args, ...sh(line)], { input: "text\n" });
    expect(none.stdout).toBe("");
  });

  test("ends an attempt that is over with all its processes before the next one", async () => {
    const pids = join(folder(), "pids");
    const line = `for pid in $(cat ${pids} 2>/dev/null); do grep -qs "^State:.[^ZX]" /proc/$pid/status && echo overlap; done
      sh -c 'trap "" TERM; echo $$ >> ${pids}; echo up >&2; sleep 1000' & echo $$ >> ${pids}; wait`;
    const args = [...fast, "--attempts", "2", "--grace", "100ms"];
    const start = (limit: string) => new Holdfast([...args, "--timeout", limit, ...sh(line)]);
    const { run } = await limited(/up[\s\S]*up/, start);
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([124, ""]);
    const all = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    expect(await survivors(all)).toEqual([]);
  });

  test("gives the descendants of a command that exits at SIGTERM their whole grace", async () => {
    const file = join(folder(), "clean");
    const line = `trap "exit 1" TERM
      sh -c 'trap "sleep 0.5; touch ${file}; exit 0" TERM; echo up; while :; do sleep 0.05; done' & wait`;
    const run = new Holdfast([...fast, "--grace", "10m", ...sh(line)]);
    await run.printed(/up/);
    run.kill("SIGTERM");
    expect([(await run.ended()).code, existsSync(file)]).toEqual([1, true]);
  });

  test("leaves what a successful command has left behind alone", async () => {
    const { code, stdout } = await holdfast([
      ...fast,
      ...sh("sleep 1000 > /dev/null 2>&1 & echo $!"),
    ]);
    const pid = Number(stdout);
    expect([code, isAlive(pid)]).toEqual([0, true]);
    process.kill(pid, "SIGKILL");
  });

  test("stops a running attempt at the deadline, and starts no wait that would pass it", async () => {
    const stopped = await holdfast([...fast, "--deadline", "300ms", ...sh("sleep 1000")]);
    expect([stopped.code, stopped.lines]).toEqual([
      124,
      ["attempt 1 of 5: deadline exceeded after …", "gave up after 1 attempt in …"],
    ]);
    const args = ["retry", "--jitter", "none", "--delay", "1h", "--cap", "1h", "--deadline", "30m"];
    const early = await holdfast([...args, ...sh("exit 9")]);
    expect([early.code, early.lines.at(-1)]).toEqual([9, "gave up after 1 attempt in …"]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const)(
    "hands %s to the command once, waits for it, and does not retry",
    async (signal) => {
      const name = signal.slice(3);
      const line = `trap "echo got ${name}; exit 5" ${name}; echo up; while :; do sleep 0.05; done`;
      const run = new Holdfast([...fast, ...sh(line)]);
      await run.printed(/up/);
      run.kill(signal);
      run.kill(signal);
      const { code, stdout } = await run.ended();
      expect([code, stdout]).toEqual([5, `up\ngot ${name}\n`]);
    },
  );

  test("hands SIGUSR1 and SIGUSR2 on and goes on", async () => {
    const line = `trap "echo one" USR1; trap "echo two; exit 0" USR2; echo up; while :; do sleep 0.05; done`;
    const run = new Holdfast([...fast, ...sh(line)]);
    await run.printed(/up/);
    run.kill("SIGUSR1");
    await run.printed(/one/);
    run.kill("SIGUSR2");
    expect((await run.ended()).code).toBe(0);
  });

  test("kills at a second SIGTERM a second later, and after the grace", async () => {
    const line = `trap "" TERM; echo up $$; while :; do sleep 0.05; done`;
    const run = new Holdfast([...fast, "--grace", "10m", ...sh(line)]);
    const [, pid] = await run.printed(/up (\d+)/);
    run.kill("SIGTERM");
    const again = setInterval(() => run.kill("SIGTERM"), 1_100);
    onTestFinished(() => clearInterval(again));
    expect((await run.ended()).code).toBe(137);
    expect(isAlive(Number(pid))).toBe(false);
    const second = new Holdfast([...fast, "--grace", "50ms", ...sh(line)]);
    await second.printed(/up/);
    second.kill("SIGTERM");
    expect((await second.ended()).code).toBe(137);
  });

  test("ends at once with 128 + N when a signal arrives during a delay", async () => {
    const run = new Holdfast([
      "retry",
      "--delay",
      "1h",
      "--cap",
      "1h",
      "--jitter",
      "none",
      ...sh("exit 1"),
    ]);
    await run.printed(/again in/);
    run.kill("SIGTERM");
    const { code, lines } = await run.ended();
    expect([code, lines.at(-1)]).toEqual([143, "stopped by SIGTERM"]);
  });

  test.runIf(hasTerminal)(
    "leaves the terminal to the command; one Ctrl-C reaches it once",
    async () => {
      const line = `trap "echo got; exit 5" INT; [ -t 0 ] && echo up; while :; do sleep 0.05; done`;
      const run = new Holdfast([...fast, ...sh(line)], { terminal: true });
      await run.printed(/up/);
      run.child.stdin?.write("\u0003");
      const { code, stdout } = await run.ended();
      expect(stdout.match(/got/g)).toEqual(["got"]);
      // 130 if holdfast hears of the end of the command before it hears of the Ctrl-C.
      expect([5, 130]).toContain(code);
    },
  );

  test.runIf(hasTerminal)("tells the command once that the terminal has closed", async () => {
    const told = join(folder(), "told");
    const line = `trap "echo hup >> ${told}" HUP; echo up $$; until test -e ${told}; do sleep 0.05; done`;
    const run = new Holdfast([...fast, ...sh(line)], { terminal: true });
    const [, pid] = await run.printed(/up (\d+)/);
    run.kill("SIGKILL"); // That is script(1), which has the other end of the terminal.
    expect(await survivors([Number(pid)])).toEqual([]);
    expect(readFileSync(told, "utf8")).toBe("hup\n");
  });

  test.runIf(hasTerminal)("stops all processes of a command that has the terminal", async () => {
    const line = `sh -c 'echo up $$; sleep 1000' & sleep 1000`;
    const args = [...fast, "--attempts", "1", "--timeout"];
    const { run, match } = await limited(
      /up (\d+)/,
      (limit) => new Holdfast([...args, limit, ...sh(line)], { terminal: true }),
    );
    expect((await run.ended()).code).toBe(124);
    expect(await survivors([Number(match[1])])).toEqual([]);
  });
});

describe("the arguments of holdfast retry", () => {
  test.each([
    [[], "there is no command"],
    [["npm", "test"], "unexpected npm"],
    [["--"], "there is no command after --"],
    [["--shell", "true", "--", "true"], "not both"],
    [["--attempts", "0", "--", "true"], "at least 1"],
    [["--delay", "5", "--", "true"], "5 has no unit"],
    [["--timeout", "abc", "--", "true"], "Expected 0 or a duration"],
    [["--on", "SIGNOPE", "--", "true"], "Expected exit codes, timeout or signals"],
    [["--on-output", "later", "--", "true"], "Expected /REGEX/"],
    [["--on-output", "/(/", "--", "true"], "Invalid regular expression"],
    [["--jitter", "half", "--", "true"], "Expected full, equal, none"],
    [["--delays", "1s", "--delay", "2s", "--", "true"], "cannot be used with"],
    [["--nope", "--", "true"], "unknown option"],
  ])("refuses %j", async (args, words) => {
    const { code, stdout, lines } = await holdfast(["retry", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(lines.join("\n")).toContain(words);
  });

  test("lets options of the command pass unparsed", async () => {
    const { stdout } = await holdfast(["retry", "--", "echo", "--attempts", "--help", "--"]);
    expect(stdout).toBe("--attempts --help --\n");
    // Twice, for npm exec.
    expect((await holdfast(["retry", "--", "--", "echo", "--"])).stdout).toBe("--\n");
  });
});
