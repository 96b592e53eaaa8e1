import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { describe, expect, it } from "vitest";
import { isAlive, survivors } from "../../../../test/processes.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { freePort } from "../../src/supervisor/machine/free-port.ts";
import { httpProbe } from "../../src/supervisor/machine/http-probe.ts";
import { ProcessLogs } from "../../src/supervisor/machine/process-logs.ts";
import { RealProcessTable } from "../../src/supervisor/machine/real-process-table.ts";
import { SupervisorProgram } from "./supervisor-program.ts";

// Processes, files and time are real here; these are the only tests of the supervisor that wait.

/** For a machine that is busy with other things. */
const PATIENT = { timeout: 240_000 };

const directory = tempFolder();

let files = 0;
function write(text: string): string {
  const file = join(directory, `${++files}.yaml`);
  writeFileSync(file, text);
  return file;
}

const IGNORES_SIGTERM = `'trap "" TERM; while :; do sleep 0.05; done'`;

const table = new RealProcessTable(new ProcessLogs(join(directory, "logs")));

function start(name: string, command: string, args: readonly string[] = [], cwd = directory) {
  return table.start({ name, command, args, env: { WORD: "hello" }, cwd });
}

/** Pid and command of the processes of some groups, those of them that are not zombies. */
function membersOf(groups: readonly number[]): [number, string][] {
  const columns = ["-e", "-o", "pid=,pgid=,stat=,args="];
  const { stdout } = spawnSync("ps", columns, { encoding: "utf8" });
  return stdout.split("\n").flatMap((row): [number, string][] => {
    const [, pid, group, state = "Z", command = ""] = /(\d+) +(\d+) +(\S+) +(.*)/.exec(row) ?? [];
    const counts = groups.includes(Number(group)) && !state.startsWith("Z");
    return counts ? [[Number(pid), command]] : [];
  });
}

describe.concurrent("a real process", PATIENT, () => {
  it("ends with its code and its last words", async () => {
    const script = "echo first; echo $WORD from $(pwd) >&2; exit 3";
    const { exited } = start("words", "sh", ["-c", script]);
    const words = `hello from ${directory}`;
    expect(await exited).toEqual({ kind: "code", code: 3, words });
  });

  it("keeps the error, not the stack, of a Node program", async () => {
    const { exited } = start("thrower", process.execPath, ["-e", 'throw new Error("no config")']);
    expect(await exited).toMatchObject({ code: 1, words: "Error: no config" });
  });

  it("keeps the log of the previous run, also beside a process named web.previous", async () => {
    const place = join(directory, "previous");
    const logged = new RealProcessTable(new ProcessLogs(place));
    for (const [name, word] of [
      ["web", "one"],
      ["web.previous", "other"],
      ["web", "two"],
    ] as const) {
      const launch = { name, command: "echo", args: [word], env: {}, cwd: directory };
      await logged.start(launch).exited;
    }
    const texts = readdirSync(place).map((file) => [file, readFileSync(join(place, file), "utf8")]);
    expect(Object.fromEntries(texts)).toEqual({
      "web.log": "two\n",
      "web.log.previous": "one\n",
      "web.previous.log": "other\n",
    });
  });

  it("restarts after its logs were removed", async () => {
    const place = join(directory, "cleared");
    const cleared = new RealProcessTable(new ProcessLogs(place));
    const launch = { name: "x", command: "sh", env: {}, cwd: directory };
    const { exited } = cleared.start({ ...launch, args: ["-c", `rm -r ${place}; exit 3`] });
    expect(await exited).toEqual({ kind: "code", code: 3, words: undefined });
    const again = cleared.start({ ...launch, args: ["-c", "echo here; exit 4"] });
    expect(await again.exited).toEqual({ kind: "code", code: 4, words: "here" });
  });

  it("ends by a signal", async () => {
    const child = start("sleeper", "sleep", ["100"]);
    child.signal("SIGTERM");
    expect(await child.exited).toEqual({ kind: "signal", signal: "SIGTERM", words: undefined });
    child.signal("SIGTERM");
  });

  it.each([
    {
      name: "a missing command",
      command: "no-such-command",
      cwd: directory,
      want: 'no-such-command was not found: install it or correct "command"',
    },
    {
      name: "a missing directory",
      command: "sleep",
      cwd: "/no/such/directory",
      want: 'its directory /no/such/directory does not exist: create it or correct "cwd"',
    },
    {
      name: "a file that is not a program",
      command: join(directory, "logs"),
      cwd: directory,
      want: `${join(directory, "logs")} may not be run: try chmod +x`,
    },
  ])("names the next step for $name", async ({ name, command, cwd, want }) => {
    const { pid, exited } = start(name.replaceAll(" ", "-"), command, [], cwd);
    expect(pid).toBeUndefined();
    expect(await exited).toEqual({ kind: "error", message: want });
  });

  it("ends its descendants when it crashes", async () => {
    const { exited } = start("parent", "sh", ["-c", "sleep 100 & echo orphan $!; exit 1"]);
    const exit = await exited;
    const orphan = "words" in exit ? Number(exit.words?.split(" ")[1]) : Number.NaN;
    expect(orphan).toBeGreaterThan(0);
    expect(await survivors([orphan])).toEqual([]);
  });
});

describe.concurrent("the probe", PATIENT, () => {
  it("counts a refusal, a missing page and no response as not ready", async () => {
    const port = await freePort();
    const code = `let n = 0; require("http").createServer((_, response) => {
      if (n === 2) return;
      response.statusCode = [200, 404][n++];
      response.end();
    }).listen(${port}, "127.0.0.1", () => console.log("listening"))`;
    const url = `http://127.0.0.1:${port}/`;
    const never = new AbortController().signal;
    expect(await httpProbe(url, never)).toBe(false);

    const server = start("server", process.execPath, ["-e", code]);
    while (!(await httpProbe(url, never))) await realClock.sleep(10);
    expect(await httpProbe(url, never)).toBe(false);
    expect(await httpProbe(url, realClock.timeout(20))).toBe(false);
    server.signal("SIGKILL");
    await server.exited;
  });
});

describe.concurrent("the program", PATIENT, () => {
  it("restarts a process killed by hand, and ends at once in the next backoff", async ({
    expect,
  }) => {
    const grace = 10_000;
    const file = write(`
backoff: { duration: 300ms, factor: 50, cap: 15s, resetAfter: 1m }
processes: { steady: { command: sleep, args: ["100"] } }
`);
    await using program = new SupervisorProgram([
      "--file",
      file,
      "--for",
      "1m",
      "--grace",
      `${grace}ms`,
    ]);
    const first = await program.pidOf("steady");
    const killedAt = realClock.monotonic();
    process.kill(first, "SIGKILL");
    // What is printed is the time until the next start: a pause of the machine adds to it.
    await program.printed(/CrashLoopBackOff, restart 1 in ([3-9]\d\dms|\d(\.\d)?s): SIGKILL/);
    const second = await program.pidOf("steady");
    const gap = realClock.monotonic() - killedAt;
    expect(gap).toBeGreaterThanOrEqual(300);

    process.kill(second, "SIGKILL");
    await program.printed(/CrashLoopBackOff, restart 2 in (1[5-9]|2\d)(\.\d)?s: SIGKILL/);
    const stoppedAt = realClock.monotonic();
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(128 + 15);
    expect(realClock.monotonic() - stoppedAt).toBeLessThan(grace);
    expect(await survivors([first, second])).toEqual([]);
  });

  it("leaves no process behind, not even one that ignores SIGTERM or a grandchild", async () => {
    const file = write(`
processes:
  stubborn: { command: sh, args: [-c, ${IGNORES_SIGTERM}] }
  parent: { command: sh, args: [-c, "sleep 100 & trap exit TERM; wait"] }
`);
    const logs = join(directory, "kept-logs");
    const args = ["--file", file, "--forever", "--grace", "200ms", "--logs", logs];
    await using program = new SupervisorProgram(args);
    const groups = [await program.pidOf("stubborn"), await program.pidOf("parent")];
    while (!membersOf(groups).some(([, command]) => command === "sleep 100"))
      await realClock.sleep(20);
    program.child.kill("SIGTERM");
    await program.printed(/stubborn +still running after 200ms: SIGKILL/);
    await program.printed(/No process is running\./);
    expect(await program.exited).toBe(0);
    expect(await survivors(membersOf(groups).map(([pid]) => pid))).toEqual([]);
    expect(readdirSync(logs).toSorted()).toEqual(["parent.log", "stubborn.log"]);
  });

  it("keeps the last valid manifest, and follows a file that is replaced", async () => {
    const good = 'processes: { steady: { command: sleep, args: ["100"] } }\n';
    const file = write(good);
    await using program = new SupervisorProgram(["--file", file, "--forever"]);
    const first = await program.pidOf("steady");

    writeFileSync(file, good.replace("command", "comand"));
    await program.printed(/:1:24: processes\.steady\.comand is an unknown key; expected one of/);
    await program.printed(/keeping the last valid manifest/);
    expect(isAlive(first)).toBe(true);

    writeFileSync(`${file}.new`, good.replace("100", "200"));
    renameSync(`${file}.new`, file);
    await program.printed(/: restart steady\n/);
    const second = await program.pidOf("steady");
    expect(await survivors([first])).toEqual([]);

    rmSync(file);
    await program.printed(/does not exist: create it or correct --file/);
    program.child.kill("SIGTERM");
    expect(await program.exited).toBe(0);
    expect(await survivors([second])).toEqual([]);
  });

  it.each([
    {
      name: "a file behind a symlink",
      arrange: (place: string) => {
        mkdirSync(join(place, "elsewhere"));
        symlinkSync("elsewhere/real.yaml", join(place, "my.yaml"));
        return { first: "elsewhere/real.yaml", edit: "elsewhere/real.yaml", swap: () => undefined };
      },
    },
    {
      name: "a ConfigMap whose ..data is swapped",
      arrange: (place: string) => {
        for (const version of ["..1", "..2"]) mkdirSync(join(place, version));
        symlinkSync("..1", join(place, "..data"));
        symlinkSync("..data/my.yaml", join(place, "my.yaml"));
        const swap = () => {
          symlinkSync("..2", join(place, "..data_tmp"));
          renameSync(join(place, "..data_tmp"), join(place, "..data"));
        };
        return { first: "..1/my.yaml", edit: "..2/my.yaml", swap };
      },
    },
    {
      name: "a directory that is replaced",
      arrange: (place: string) => {
        for (const version of ["conf", "conf.new"]) mkdirSync(join(place, version));
        symlinkSync("conf/my.yaml", join(place, "my.yaml"));
        const swap = () => {
          renameSync(join(place, "conf"), join(place, "conf.old"));
          renameSync(join(place, "conf.new"), join(place, "conf"));
        };
        return { first: "conf/my.yaml", edit: "conf.new/my.yaml", swap };
      },
    },
  ])("follows $name", async ({ arrange }) => {
    const place = mkdtempSync(join(directory, "watched-"));
    const { first, edit, swap } = arrange(place);
    const manifest = 'processes: { steady: { command: sleep, args: ["100"] } }\n';
    writeFileSync(join(place, first), manifest);
    await using program = new SupervisorProgram(["--file", join(place, "my.yaml"), "--forever"]);
    await program.pidOf("steady");
    writeFileSync(join(place, edit), manifest.replace("100", "200"));
    swap();
    await program.printed(/: restart steady\n/);
  });

  it("kills at once at a second signal", async () => {
    const file = write(`processes: { stubborn: { command: sh, args: [-c, ${IGNORES_SIGTERM}] } }`);
    await using program = new SupervisorProgram(["--file", file, "--forever", "--grace", "1m"]);
    const pid = await program.pidOf("stubborn");
    program.child.kill("SIGINT");
    await program.printed(/stubborn +Terminating/);
    program.child.kill("SIGINT");
    expect(await program.exited).toBe(0);
    expect(await survivors([pid])).toEqual([]);
  });

  it("ends its processes when it crashes", async () => {
    const dist = new URL("../../dist/supervisor/machine/", import.meta.url);
    const code = `
      import { RealProcessTable } from "${dist}real-process-table.js";
      import { ProcessLogs } from "${dist}process-logs.js";
      const logs = new ProcessLogs(undefined);
      const table = new RealProcessTable(logs);
      const { pid } = table.start({ name: "a", command: "sleep", args: ["100"], env: {}, cwd: "/" });
      console.log(pid, logs.directory);
      throw new Error("a bug");
    `;
    const args = ["--input-type=module", "-e", code];
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: "utf8" });
    const [pid, logs = ""] = stdout.trim().split(" ");
    expect(status).toBe(1);
    expect(await survivors([Number(pid)])).toEqual([]);
    expect(existsSync(logs)).toBe(false);
  });

  it("prints its usage", async () => {
    await using program = new SupervisorProgram(["--help"]);
    expect(await program.exited).toBe(0);
    expect(program.stdout).toMatch(/^Usage: npm start -- \[options\]\n/);
  });
});
