import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive, survivors } from "../../../../test/processes.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Holdfast, holdfast } from "../holdfast.ts";
import { manifestFile, Supervised } from "./supervised.ts";

// Processes, files and time are real here. All that is waited for is a condition.

const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

const directory = tempFolder();

/** Ignores the signals from when it has printed `up`. */
const STUBBORN = `'trap "" TERM INT; echo up; while :; do sleep 0.05; done'`;
const SLEEPER = "processes: { steady: { command: [sleep, 1000] } }\n";

describe("holdfast run", () => {
  test("ends with 0 when all processes have completed, and prints their output on stdout", async () => {
    const run = new Supervised(`
processes:
  one: { shell: 'echo out; echo error >&2', restart: Never }
  migrate: { command: [sh, -c, 'echo $0 $1', 8080, true], restart: OnFailure }
`);
    const { code, stdout } = await run.ended();
    expect(code).toBe(0);
    expect(
      stdout
        .split("\n")
        .filter(Boolean)
        .map((line) => line.replace(/ +\|/, " |"))
        .sort(),
    ).toEqual(["migrate | 8080 true", "one | error", "one | out"]);
    expect(run.stderr.split("\n").filter((line) => line && !line.startsWith("holdfast: "))).toEqual(
      [],
    );
    expect(run.stderr).toMatch(/holdfast: migrate: Completed: code 0 after /);
  });

  test("ends with 1 when one has failed", async () => {
    const { code, lines } = await new Supervised(`
processes:
  migrate: { shell: 'echo no database >&2; exit 3', restart: Never }
`).ended();
    expect([code, lines.at(-2), lines.at(-1)]).toEqual([
      1,
      'migrate: Failed: code 3 after …, "no database"',
      "all processes have ended: stopping",
    ]);
  });

  test("runs the named processes, and those that they depend on", async () => {
    const run = new Supervised(
      `
processes:
  db: { shell: 'echo up; exec sleep 1000' }
  test: { shell: 'exit 7', exitOnEnd: true, dependsOn: { db: started } }
  other: { shell: 'echo other' }
`,
      ["test"],
    );
    const { code, stdout } = await run.ended();
    expect([code, stdout.includes("other")]).toEqual([7, false]);
  });

  test("stops the dependents first", async () => {
    const run = new Supervised(`
processes:
  db: { command: [sleep, 1000] }
  web: { command: [sleep, 1000], dependsOn: { db: started } }
`);
    await run.pidOf("web");
    run.kill("SIGTERM");
    const { lines } = await run.ended();
    const steps = lines.filter((line) => /Terminating|Stopped/.test(line));
    expect(steps.map((line) => line.replace(/,.*| after.*/, ""))).toEqual([
      "web: Terminating",
      "web: Stopped: SIGTERM",
      "db: Terminating",
      "db: Stopped: SIGTERM",
    ]);
  });

  test("goes on with --keep-running, and ends with 128 + N at a signal", async () => {
    const run = new Supervised(`processes: { a: { shell: "true", restart: Never } }`, [
      "--keep-running",
    ]);
    await run.printed(/a: Completed/);
    await sleep(100);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(128 + 15);
  });

  test("ends all processes with the code of one with exitOnEnd", async () => {
    const run = new Supervised(`
processes:
  server: { command: [sleep, 1000] }
  test: { shell: 'exit 7', exitOnEnd: true, dependsOn: { server: started } }
`);
    const { code, lines } = await run.ended();
    expect(code).toBe(7);
    expect(lines).toContain("test has ended: stopping");
    expect(lines).toContain("server: Stopped: SIGTERM after …");
  });

  test("stops after --for, with 0", async () => {
    const { code, lines } = await new Supervised(SLEEPER, ["--for", "300ms"]).ended();
    expect([code, lines.includes("time is up: stopping")]).toEqual([0, true]);
  });

  const yaml = "processes: { a: { shell: 'echo from a pipe', restart: Never } }";
  test("reads a manifest from stdin, once", async () => {
    const { code, stdout } = await holdfast(["run", "-"], { input: yaml });
    expect([code, stdout]).toEqual([0, "a | from a pipe\n"]);
  });

  test("reads a manifest from a pipe, once", async () => {
    const fifo = join(directory, "fifo");
    spawnSync("mkfifo", [fifo]);
    const run = new Holdfast(["run", fifo]);
    spawn("sh", ["-c", `echo "${yaml}" > ${fifo}`]);
    expect([(await run.ended()).code, run.stdout]).toEqual([0, "a | from a pipe\n"]);
  });

  test.each([
    ["no manifest", [], "", /there is no manifest/],
    ["a missing file", ["no.yaml"], "", /^no\.yaml does not exist: create it or correct the name/],
    ["a directory", ["."], "", /^\. is a directory: name the file in it/],
    ["no process", ["-"], "processes: {}", /^-: there is no process to run/],
    ["an empty pipe", ["-"], "", /^-:1:1: the manifest is empty; expected a mapping/],
    [
      "a mistake",
      ["-"],
      "processes: { a: {} }",
      /^-:1:14: processes\.a\.command is missing.*\n +1 \| .*\n +\| +\^\n/,
    ],
    [
      "a name that is none",
      ["-", "a", "b"],
      "processes: { a: { command: x } }",
      /b is no process of -, or is disabled: nothing was started/,
    ],
    ["words after --", ["-", "--", "sleep"], "", /nothing may follow --/],
    ["a time without a unit", ["-", "--for", "5"], "", /5 has no unit: 5s or 5ms\?/],
    ["a port that is none", ["-", "--port", "65536"], "", /whole number from 0 to 65535/],
  ])("refuses %s with code 2", async (_, args, input, message) => {
    const run = new Holdfast(["run", ...args], { input });
    expect((await run.ended()).code).toBe(2);
    expect(run.stderr).toMatch(message);
  });

  test("leaves nothing if the port of its page is in use", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const run = new Supervised(SLEEPER, ["--port", String(port)]);
    const { code, lines } = await run.ended();
    server.close();
    expect([code, lines]).toEqual([2, [`port ${port} is taken: choose another with --port`]]);
  });
});

describe("the end of a process", () => {
  test("gives the grace to the whole group, also behind a shell whose first process ends at once", async () => {
    const flag = join(directory, "clean");
    const server = `trap "sleep 0.3; echo > ${flag}; exit" TERM; echo up; while :; do sleep 0.05; done`;
    const file = join(directory, "server.sh");
    writeFileSync(file, server);
    const run = new Supervised(`processes: { web: { shell: 'sh ${file} & wait', grace: 10m } }`);
    await run.printed(/web \| up/);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(128 + 15);
    expect(existsSync(flag)).toBe(true);
  });

  test("stops the rest of a group whose first process has crashed, before the next start", async () => {
    const run = new Supervised(`
processes:
  web: { shell: 'sleep 1000 & echo orphan $!; exit 1', maxRestarts: 0 }
`);
    const { code, stdout } = await run.ended();
    const [, orphan] = /orphan (\d+)/.exec(stdout) ?? [];
    expect([code, await survivors([Number(orphan)])]).toEqual([1, []]);
  });

  test.each(["SIGTERM", "SIGUSR1", "SIGHUP", "SIGINT"])(
    "tells the rest of a crashed group to stop once, also when %s stops it meanwhile",
    async (stopSignal) => {
      // It reports the signals, and ends at the line that the supervisor prints after its own stop.
      const end = join(tempFolder(onTestFinished), "end");
      const traps = ["TERM", "USR1", "HUP", "INT"].map((name) => `trap 'echo got ${name}' ${name}`);
      const rest = `${traps.join("; ")}; touch ${end}.up; until test -e ${end}; do sleep 0.05; done`;
      const shell = `sh -c "${rest}" & until test -e ${end}.up; do sleep 0.05; done; exit 1`;
      const run = new Supervised(
        JSON.stringify({ processes: { web: { shell, stopSignal, grace: "1m" } } }),
      );
      await run.printed(/got TERM/);
      run.kill("SIGTERM");
      await run.printed(/web: Terminating/);
      writeFileSync(end, "");
      const { stdout } = await run.ended();
      expect(stdout.match(/got \w+/g)).toEqual(["got TERM"]);
    },
  );

  test("kills what ignores the stop signal after the grace, and leaves nothing", async () => {
    const run = new Supervised(`processes: { web: { shell: ${STUBBORN} } }`, ["--grace", "200ms"]);
    const pid = await run.pidOf("web");
    await run.printed(/web \| up/);
    run.kill("SIGTERM");
    await run.printed(/web: still running after 200ms: SIGKILL/);
    await run.ended();
    expect(await survivors([pid])).toEqual([]);
  });

  test("continues a process that is suspended, so that it can use its grace", async () => {
    const run = new Supervised(`
processes:
  web: { shell: 'trap "echo clean; exit" TERM; echo up; while :; do sleep 0.05; done', grace: 10m }
`);
    const pid = await run.pidOf("web");
    await run.printed(/web \| up/);
    process.kill(pid, "SIGSTOP");
    run.kill("SIGTERM");
    await run.ended();
    expect(run.stdout).toContain("web | clean");
  });

  test("uses the stop signal and the grace of the process", async () => {
    const run = new Supervised(`
processes:
  web: { shell: 'trap "echo quit; exit" QUIT; trap "" TERM; echo up; while :; do sleep 0.05; done', stopSignal: SIGQUIT }
`);
    await run.printed(/web \| up/);
    run.kill("SIGTERM");
    await run.printed(/web: Terminating, the supervisor stops: SIGQUIT, grace 10s/);
    expect((await run.ended()).stdout).toContain("web | quit");
  });
});

describe("the signals of holdfast run", () => {
  // The second before it is the matter of signals.test.ts.
  test("kill at a second one more than 1 s after the first", async () => {
    const run = new Supervised(`processes: { web: { shell: ${STUBBORN} } }`, ["--grace", "10m"]);
    const pid = await run.pidOf("web");
    await run.printed(/web \| up/);
    run.kill("SIGINT");
    await run.printed(/web: Terminating/);
    await sleep(1_100);
    expect(isAlive(pid)).toBe(true);
    run.kill("SIGINT");
    await run.printed(/SIGINT: killing all processes/);
    expect([(await run.ended()).code, await survivors([pid])]).toEqual([130, []]);
  });

  test("leave it running: USR1, USR2, ALRM", async () => {
    const run = new Supervised(SLEEPER);
    const pid = await run.pidOf("steady");
    for (const signal of ["SIGUSR1", "SIGUSR2", "SIGALRM"] as const) run.kill(signal);
    await sleep(200);
    expect([isAlive(pid), run.child.exitCode]).toEqual([true, null]);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(128 + 15);
  });

  test("QUIT kills all at once", async () => {
    const run = new Supervised(`processes: { web: { shell: ${STUBBORN} } }`, ["--grace", "10m"]);
    const pid = await run.pidOf("web");
    run.kill("SIGQUIT");
    expect([(await run.ended()).code, await survivors([pid])]).toEqual([131, []]);
  });

  test("HUP reads the manifest again without a terminal", async () => {
    const run = new Supervised(SLEEPER);
    const pid = await run.pidOf("steady");
    run.kill("SIGHUP");
    await run.printed(/: nothing to change/);
    expect(isAlive(pid)).toBe(true);
    run.kill("SIGTERM");
    await run.ended();
  });

  test.skipIf(!hasTerminal)("HUP stops on a terminal, which is closed then", async () => {
    const run = new Supervised(SLEEPER, ["-v"], { terminal: true });
    const pid = await run.pidOf("steady");
    const { pid: supervisor } = (await (await fetch(`${await run.url()}state`)).json()) as {
      pid: number;
    };
    process.kill(supervisor, "SIGHUP");
    await run.ended();
    expect(run.stdout).toContain("SIGHUP: stopping");
    expect(await survivors([pid])).toEqual([]);
  });

  test.skipIf(!hasTerminal)(
    "HUP does not end it under nohup, when its terminal closes",
    async () => {
      const file = manifestFile(SLEEPER);
      const main = new URL("../../dist/main.js", import.meta.url).pathname;
      const log = join(directory, "nohup.log");
      const line = `nohup ${process.execPath} ${main} run ${file} > ${log} 2>&1 & echo $! > ${log}.pid; while ! grep -q Running ${log}; do sleep 0.1; done; kill -HUP $!; sleep 0.2`;
      await once(spawn("script", ["-qec", line, "/dev/null"], { stdio: "ignore" }), "exit");
      const pid = Number(readFileSync(`${log}.pid`, "utf8"));
      expect([isAlive(pid), readFileSync(log, "utf8").includes("stopping")]).toEqual([true, false]);
      process.kill(pid, "SIGTERM");
      expect(await survivors([pid])).toEqual([]);
    },
  );

  test.skipIf(!hasTerminal)(
    "on a terminal a table takes the place of lines, and Ctrl-C stops",
    async () => {
      const run = new Supervised(SLEEPER, [], { terminal: true, env: { CI: "", NO_COLOR: "1" } });
      await run.printed(/NAME +PHASE[\s\S]*steady +Running/);
      run.child.stdin?.write("\u0003");
      const { code, stdout } = await run.ended();
      expect([code, stdout.includes("SIGINT: stopping")]).toEqual([130, true]);
    },
  );
});

describe("the output of processes", () => {
  const noisy = `
processes:
  web: { shell: 'printf "\\033[31mred\\033[0m bell\\007\\n"; head -c 40000 /dev/zero | tr "\\0" x', restart: Never }
`;
  test("is made safe: no escape codes, no endless lines", async () => {
    const { stdout } = await new Supervised(noisy).ended();
    const lines = stdout.split("\n").filter(Boolean);
    expect(lines[0]).toBe("web | red bell\ufffd");
    expect(lines.slice(1).map(({ length }) => length - "web | ".length)).toEqual([
      16_384, 16_384, 7_232,
    ]);
  });

  test("is left as it is with --raw, and out with --no-output", async () => {
    const raw = await new Supervised(noisy, ["--raw"]).ended();
    expect(raw.stdout).toBe(`\u001b[31mred\u001b[0m bell\u0007\n${"x".repeat(40_000)}`);
    expect((await new Supervised(noisy, ["--no-output"]).ended()).stdout).toBe("");
  });

  test("goes to files of 10 MB with --logs, which only the user can read", async () => {
    const logs = mkdtempSync(join(directory, "logs-"));
    const line = "x".repeat(99);
    await new Supervised(
      `processes: { web: { shell: 'yes ${line} | head -n 250000', restart: Never } }`,
      ["--logs", logs, "--no-output"],
    ).ended();
    const files = ["web.log.2", "web.log.1", "web.log"].map((name) => statSync(join(logs, name)));
    expect(files.map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    const sizes = files.map(({ size }) => size);
    expect(sizes.map((size) => size <= 10_000_000)).toEqual([true, true, true]);
    expect(sizes.reduce((a, b) => a + b)).toBe(25_000_000);
  });

  test("does not decide whether a process starts: a log that cannot be written", async () => {
    const file = join(directory, "a-file");
    writeFileSync(file, "");
    const { code, stdout, lines } = await new Supervised(
      "processes: { web: { shell: 'echo one; echo two', restart: Never } }",
      ["--logs", join(file, "logs")],
      { env: { TMPDIR: file, XDG_RUNTIME_DIR: join(file, "x") } },
    ).ended();
    expect([code, stdout]).toEqual([0, "web | one\nweb | two\n"]);
    expect(lines.filter((line) => line.includes("no log of its output"))).toHaveLength(1);
  });

  test("ends the run when its reader has gone", async () => {
    const file = manifestFile("processes: { web: { command: [yes] } }");
    const main = new URL("../../dist/main.js", import.meta.url).pathname;
    const line = `{ ${process.execPath} ${main} run ${file}; echo code $? >&2; } | head -n 1`;
    const shell = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "pipe"] });
    const [out, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
    expect(out).toBe("web | y\n");
    expect(errors).toMatch(/the output was closed: stopping[\s\S]*code 141\n$/);
  });
});

describe("a manifest that changes", () => {
  test("restarts what has another program, and leaves what has other limits", async () => {
    const run = new Supervised(SLEEPER);
    const first = await run.pidOf("steady");
    run.edit(SLEEPER.replace("1000] }", "1000], maxRestarts: 3, backoff: kubelet }"));
    await run.printed(/: update steady\n/);
    expect(isAlive(first)).toBe(true);
    run.edit(SLEEPER.replace("1000", "2000"));
    await run.pidOf("steady", 2);
    expect(await survivors([first])).toEqual([]);
    run.kill("SIGTERM");
    await run.ended();
  });

  test("is kept as it was if it is broken or gone", async () => {
    const run = new Supervised(SLEEPER);
    const pid = await run.pidOf("steady");
    run.edit(SLEEPER.replace("command", "comand"));
    await run.printed(/:1:24: processes\.steady\.comand is an unknown key; expected one of/);
    await run.printed(/keeping the last valid manifest/);
    rmSync(run.file);
    await run.printed(/does not exist: create it or correct the name/);
    expect(isAlive(pid)).toBe(true);
    run.kill("SIGTERM");
    await run.ended();
  });

  test.each([
    {
      name: "behind a symlink",
      arrange: (place: string) => {
        mkdirSync(join(place, "elsewhere"));
        symlinkSync("elsewhere/real.yaml", join(place, "my.yaml"));
        return { first: "elsewhere/real.yaml", edit: "elsewhere/real.yaml", swap: () => undefined };
      },
    },
    {
      name: "in a ConfigMap whose ..data is swapped",
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
      name: "in a directory that is replaced",
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
  ])("is followed $name", async ({ arrange }) => {
    const place = mkdtempSync(join(directory, "watched-"));
    const { first, edit, swap } = arrange(place);
    writeFileSync(join(place, first), SLEEPER);
    const run = new Holdfast(["run", join(place, "my.yaml")], { env: { XDG_RUNTIME_DIR: place } });
    await run.printed(/steady: Running/);
    writeFileSync(join(place, edit), SLEEPER.replace("1000", "2000"));
    swap();
    await run.printed(/: restart steady\n/);
    run.kill("SIGTERM");
    await run.ended();
  });
});

describe("a process that cannot start", () => {
  test.each([
    [
      "command: sleep 5",
      "sleep 5: not found; it is one word with a space: separate the arguments, or use shell",
    ],
    ["command: no-such-command", "no-such-command: not found"],
    ["{ command: sleep, cwd: /no/such }", "its directory /no/such does not exist"],
    ["{ command: sleep, cwd: FOLDER/file }", "its directory FOLDER/file is a file"],
    ["command: FOLDER/file", "FOLDER/file: not executable, see chmod +x"],
    ["command: FOLDER/crlf.sh", "FOLDER/crlf.sh: its lines end with CRLF, change them to LF"],
    ["command: FOLDER/lost.sh", "FOLDER/lost.sh: its interpreter /no/interpreter is not found"],
  ])("says why: %s", async (entry, message) => {
    const folder = mkdtempSync(join(directory, "programs-"));
    for (const [name, text, mode] of [
      ["file", "", 0o644],
      ["crlf.sh", "#!/bin/sh\r\necho\r\n", 0o755],
      ["lost.sh", "#!/no/interpreter\n", 0o755],
    ] as const) {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), mode);
    }
    const body = entry.startsWith("{") ? entry.slice(1, -1) : entry;
    const yaml = `processes: { web: { ${body.trim()}, restart: Never } }`.replaceAll(
      "FOLDER",
      folder,
    );
    const { code, lines } = await new Supervised(yaml).ended();
    expect(code).toBe(1);
    expect(lines).toContain(`web: Failed: ${message.replaceAll("FOLDER", folder)}`);
  });

  test("is none whose fixed port a stranger has", async () => {
    const stranger = createServer().listen(0, "::1");
    await once(stranger, "listening");
    const { port } = stranger.address() as { port: number };
    const { code, lines } = await new Supervised(
      `processes: { web: { command: [sleep, 1000], restart: Never, readiness: { tcp: ${port} } } }`,
    ).ended();
    stranger.close();
    expect(code).toBe(1);
    expect(lines).toContain(
      `web: Failed: port ${port} is taken by another process: stop it, or change the port`,
    );
  });
});

describe("probes", () => {
  const server = (host: string) =>
    `require("http").createServer((_, response) => { response.statusCode = require("fs").existsSync(process.argv[1]) ? 200 : 503; response.end(); }).listen(process.env.PORT, "${host}")`;

  test("find a server on ::1 if told so, and say why it is not ready", async () => {
    const flag = join(directory, "ready-flag");
    const run = new Supervised(`
processes:
  web:
    command: [${process.execPath}, -e, '${server("::1")}', ${flag}]
    readiness: { http: auto, host: "::1", period: 50ms, timeout: 30s }
  after: { shell: 'echo started', restart: Never, dependsOn: { web: ready } }
`);
    await run.printed(/after: Pending: web is not ready yet/);
    await run.printed(/web: not ready: http:\/\/\[::1\]:\d+\/: HTTP 503/);
    writeFileSync(flag, "");
    await run.printed(/web: ready: http:\/\/\[::1\]:\d+\/ answers/);
    await run.printed(/after \| started/);
    run.kill("SIGTERM");
    await run.ended();
  });

  test("run a command with the environment of the process, and restart what fails", async () => {
    const file = join(directory, "alive");
    writeFileSync(file, "");
    const run = new Supervised(`
processes:
  web:
    command: [sleep, 1000]
    env: { FILE: ${file} }
    liveness: { exec: 'test -e $FILE', period: 50ms, timeout: 30s, failures: 2 }
    backoff: { duration: 1ms, cap: 1ms }
`);
    const first = await run.pidOf("web");
    rmSync(file);
    await run.printed(/web: stopping it, to start it again: liveness: its command: exit 1/);
    const second = await run.pidOf("web", 2);
    expect([second === first, await survivors([first])]).toEqual([false, []]);
    run.kill("SIGTERM");
    await run.ended();
  });
});

describe("one supervisor per manifest", () => {
  test("is enough: a second one says who holds it", async () => {
    const run = new Supervised(SLEEPER);
    await run.pidOf("steady");
    const link = `${run.file}.link`;
    symlinkSync(run.file, link);
    const second = new Holdfast(["run", link], { env: run.env });
    const { code, lines } = await second.ended();
    expect([code, lines]).toEqual([125, [`process ${run.child.pid} runs ${link} already`]]);
    run.kill("SIGTERM");
    await run.ended();
  });

  test.skipIf(process.platform !== "linux")(
    "is left its folder by a second one, also while it has no process to note",
    async () => {
      const run = new Supervised(`
processes:
  once: { shell: exit 1, backoff: { duration: 1h, cap: 1h, resetAfter: 1h } }
`);
      await run.printed(/once: CrashLoopBackOff/);
      expect((await holdfast(["run", run.file], { env: run.env })).code).toBe(125);
      const base = join(dirname(run.file), "holdfast");
      const [name = ""] = readdirSync(base);
      expect(readdirSync(join(base, name)).toSorted()).toEqual(["holders", "processes"]);
      run.kill("SIGTERM");
      await run.ended();
      expect(readdirSync(base)).toEqual([]);
    },
  );

  test.skipIf(process.platform !== "linux")(
    "stops what a killed one has left, also what has left its group",
    async () => {
      const run = new Supervised(`
processes:
  steady: { shell: 'setsid sleep 1000 & echo daemon $!; wait' }
`);
      const pid = await run.pidOf("steady");
      const [, daemon] = await run.printed(/daemon (\d+)/);
      run.kill("SIGKILL");
      await run.ended();
      expect([isAlive(pid), isAlive(Number(daemon))]).toEqual([true, true]);
      const next = new Holdfast(["run", run.file], { env: run.env });
      await next.printed(
        new RegExp(`stopping process ${pid}, which an earlier holdfast run has left`),
      );
      await next.printed(/steady: Running/);
      expect(await survivors([pid, Number(daemon)])).toEqual([]);
      next.kill("SIGTERM");
      await next.ended();
    },
  );
});

describe("the page", () => {
  test("has its first state in the HTML, and shows changes as they come", async () => {
    const run = new Supervised(SLEEPER);
    const pid = await run.pidOf("steady");
    const url = await run.url();
    const html = await (await fetch(url)).text();
    expect(html).toMatch(/^<!doctype html>/);
    const row = html.slice(html.indexOf("<h2>steady "));
    expect([row.includes(">Running<"), row.includes(`>pid ${pid}<`)]).toEqual([true, true]);
    const state = (await (await fetch(`${url}state`)).json()) as { processes: { name: string }[] };
    expect(state.processes.map(({ name }) => name)).toEqual(["steady"]);
    expect(await (await fetch(`${url}metrics`)).text()).toContain(
      'holdfast_process_running{process="steady"} 1\n',
    );
    expect((await fetch(`${url}readyz`)).status).toBe(200);
    expect((await fetch(`${url}logs?name=steady`)).status).toBe(403);
    expect((await fetch(`${url}restart?name=steady`, { method: "POST" })).status).toBe(403);
    run.kill("SIGTERM");
    await run.ended();
  });
});

const unshare = spawnSync("unshare", ["-fp", "--mount-proc", "true"]).status === 0;

test.skipIf(!unshare)("as process 1 it warns, and leaves nothing", async () => {
  const up = join(directory, "up");
  const file = manifestFile(`
processes:
  web: { shell: 'echo up; touch ${up}; exec sleep 1000' }
  end: { shell: 'until test -e ${up}; do sleep 0.05; done', exitOnEnd: true }
`);
  const main = new URL("../../dist/main.js", import.meta.url).pathname;
  const run = [process.execPath, main, "run", file];
  const child = spawn("unshare", ["-fp", "--kill-child", "--mount-proc", ...run], {
    env: { ...process.env, XDG_RUNTIME_DIR: directory },
  });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toMatch(/^holdfast: runs as pid 1: use docker run --init to reap orphans\n/);
  expect(errors).toMatch(/web: Stopped: SIGTERM after /);
  expect(out).toBe("web | up\n");
});
