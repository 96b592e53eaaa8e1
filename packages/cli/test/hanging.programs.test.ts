import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Holdfast, limited, type RunOptions, sh } from "./holdfast.ts";
import { manifestFile, Supervised } from "./run/supervised.ts";

// A name server and a file system that never answer, for one program alone: root may arrange them.

const folder = tempFolder();
const NAME_SERVER = "127.53.0.1";
const ready = join(folder, "ready");
writeFileSync(ready, "");

/** The questions of a test, by their bytes. The resolver asks again with the same bytes, after 30 s. */
let questions: string[] = [];
let onRepeat = (): void => undefined;
beforeEach(() => {
  questions = [];
});
const server = createSocket("udp4");
server.on("message", (question) => {
  const bytes = question.toString("hex");
  if (questions.includes(bytes)) onRepeat();
  questions.push(bytes);
});
const isListening = await new Promise<boolean>((resolve) => {
  server.once("listening", () => resolve(true)).once("error", () => resolve(false));
  server.bind(53, NAME_SERVER);
});
afterAll(() => server.close());

const hasNamespaces = spawnSync("unshare", ["-m", "true"]).status === 0;
const resolvConf = join(folder, "resolv.conf");
writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\noptions timeout:30 attempts:5\n`);
const nsswitchConf = join(folder, "nsswitch.conf");
writeFileSync(nsswitchConf, "hosts: files dns\n");
const withoutNames: RunOptions = {
  within: [
    ..."unshare -m sh -c".split(" "),
    'mount --bind "$0" /etc/resolv.conf && mount --bind "$1" /etc/nsswitch.conf && shift && exec "$@"',
    resolvConf,
    nsswitchConf,
  ],
  env: { http_proxy: "http://proxy.example:1", https_proxy: "http://proxy.example:1" },
};

/** What happens first: the end of a run, or the next question to a name server that does not answer. */
async function firstOf(run: Holdfast): Promise<unknown> {
  const repeated = new Promise<string>((resolve) => {
    onRepeat = () => resolve("the resolver asked again");
  });
  return await Promise.race([run.ended().then(({ code }) => code), repeated]);
}

const TARGETS: [string[]][] = [
  [["tcp:db.example:5432"]],
  [["http://db.example/"]],
  [["https://db.example/"]],
  [["dns:db.example"]],
  [["--proxy", "env", "http://db.example/"]],
  [["--proxy", "env", "https://db.example/"]],
  [["tcp:a.example:1", "http://b.example/", "dns:c.example", "tcp:d.example:1", "dns:e.example"]],
];

describe.skipIf(!isListening || !hasNamespaces)("a name server that does not answer", () => {
  test.each(TARGETS)("is not waited for after the time limit: %j", async (targets) => {
    const run = new Holdfast(["wait", "--timeout", "1s", ...targets], withoutNames);
    await run.printed(/not ready after 1s/);
    expect(await firstOf(run)).toBe(124);
  });

  test.each(TARGETS)("is not waited for after SIGTERM: %j", async (targets) => {
    const run = new Holdfast(["wait", "--attempt-timeout", "50ms", ...targets], withoutNames);
    await run.printed(/no answer within/);
    run.kill("SIGTERM");
    expect(await firstOf(run)).toBe(143);
  });

  test("is not waited for after the command", async () => {
    const args = [
      "wait",
      "--any",
      "tcp:db.example:1",
      `file:${ready}`,
      ...sh("echo command; exit 3"),
    ];
    const run = new Holdfast(args, withoutNames);
    await run.printed(/command/);
    expect(await firstOf(run)).toBe(3);
  });

  test("is not waited for with a server, after the time limit", async () => {
    const server = ["--server", "echo up $$; exec sleep 1000", "http://db.example/", ...sh("true")];
    const { run, match } = await limited(
      /up (\d+)/,
      (limit) => new Holdfast(["wait", "--timeout", limit, ...server], withoutNames),
    );
    expect(await firstOf(run)).toBe(124);
    expect(await survivors([Number(match[1])])).toEqual([]);
  });

  test("is not waited for with a server, once for each name", async () => {
    const targets = Array.from({ length: 40 }, (_, index) => `tcp:h${index}.example:1`);
    const args = ["wait", "--timeout", "2s", "--server", "exec sleep 1000", ...targets];
    expect(await firstOf(new Holdfast([...args, ...sh("true")], withoutNames))).toBe(124);
  });

  test("is asked once for a name, however often it is checked", async () => {
    const often = ["-v", "--interval", "10ms", "--attempt-timeout", "20ms", "--timeout", "0"];
    const run = new Holdfast(["wait", ...often, "tcp:db.example:1"], withoutNames);
    await expect.poll(() => questions.length).toBe(2); // For both families.
    const checks = (): number => run.stderr.split("no answer within").length;
    const before = checks();
    await expect.poll(checks).toBeGreaterThan(before + 20);
    run.kill("SIGTERM");
    expect(await firstOf(run)).toBe(143);
    expect(questions).toHaveLength(2);
  });
});

const point = join(folder, "mount");
mkdirSync(point);
/** A file system in this program whose server does not answer. It ends with the program that holds descriptor 9. */
const withoutFiles: RunOptions = {
  within: [
    ..."unshare -m sh -c".split(" "),
    'exec 9<>/dev/fuse; mount -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 hang "$0" && exec "$@"',
    point,
  ],
};
const hasFuse =
  hasNamespaces &&
  existsSync("/dev/fuse") &&
  spawnSync("unshare", [...(withoutFiles.within ?? []).slice(1), "true"]).status === 0;

const fifo = join(folder, "fifo");
spawnSync("mkfifo", [fifo]);

/** A path in a command, or in a manifest that a command reads. */
interface Door {
  readonly args: (path: string) => readonly string[];
  /** Whether a pipe is read to its end there. Elsewhere it is refused. */
  readonly takesPipes?: boolean;
}

const FILES: Readonly<Record<string, Door>> = {
  "a manifest": { args: (path) => ["run", path], takesPipes: true },
  "a manifest to check": { args: (path) => ["run", "check", path], takesPipes: true },
  "a file to import": { args: (path) => ["run", "import", path], takesPipes: true },
  "an envFile": {
    args: (path) => ["run", manifestFile(`processes: { a: { command: sh, envFile: ${path} } }`)],
  },
  "a cwd": {
    args: (path) => ["run", manifestFile(`processes: { a: { command: sh, cwd: ${path} } }`)],
  },
  "a program": { args: (path) => ["run", manifestFile(`processes: { a: { command: ${path} } }`)] },
  "--logs": {
    args: (path) => ["run", "--logs", path, manifestFile("processes: { a: { command: sh } }")],
  },
  "the file of a supervisor": { args: (path) => ["run", "status", "--file", path] },
  "--cacert": { args: (path) => ["wait", "--cacert", path, "http://127.0.0.1:1"] },
};
const PATHS = Object.entries(FILES).flatMap(([name, door]) => {
  const hangs = { name, ...door, path: `${point}/x`, isSkipped: !hasFuse };
  return door.takesPipes ? [hangs, { ...hangs, path: fifo, isSkipped: false }] : [hangs];
});

/** Whether a thread of a process, or of a child of it, waits for a file system or for the writer of a pipe. */
function isHanging(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}`);
  return threads.some((thread) => {
    if (/fuse|request_wait|fifo|partner/.test(readFileSync(`${thread}/wchan`, "utf8"))) return true;
    const children = readFileSync(`${thread}/children`, "utf8").split(" ").filter(Boolean);
    return children.some((child) => isHanging(Number(child)));
  });
}

describe.runIf(process.platform === "linux")("a file that is never read to its end", () => {
  const open = PATHS.filter(({ isSkipped }) => !isSkipped);

  test.each(open)("ends at SIGTERM: $name at $path", async ({ args, path }) => {
    const { within = [] } = path === fifo ? {} : withoutFiles;
    const env = { XDG_RUNTIME_DIR: tempFolder(onTestFinished) };
    const run = new Holdfast(args(path), { within, env });
    await expect.poll(() => isHanging(run.child.pid as number)).toBe(true);
    run.kill("SIGTERM");
    expect([null, 143]).toContain((await run.ended()).code); // Null: by the signal itself.
    expect(["SIGTERM", null]).toContain(run.child.signalCode);
  });

  test.skipIf(!hasFuse)("is not waited for after the time limit: --cacert", async () => {
    const args = ["wait", "--timeout", "500ms", "--cacert", `${point}/x`, "tcp:127.0.0.1:1"];
    const { code, lines } = await new Holdfast(args, withoutFiles).ended();
    expect([code, lines]).toEqual([124, [`--cacert ${point}/x not read after …`]]);
  });

  test.each([
    ["a manifest", ["run", "-"], "SIGTERM", [null, 143]],
    ["a manifest, by its path", ["run", "/dev/stdin"], "SIGTERM", [null, 143]],
    ["--stdin", ["retry", "--stdin", "--", "true"], "SIGTERM", [143]],
    [
      "--stdin, to the deadline",
      ["retry", "--stdin", "--deadline", "1s", "--", "true"],
      null,
      [124],
    ],
  ] as const)("is stdin: %s", async (_, args, signal, codes) => {
    const env = { XDG_RUNTIME_DIR: tempFolder(onTestFinished) };
    const run = new Holdfast(args, { env, keepsStdin: true });
    run.child.stdin?.write("processes:");
    // Once it has read that, it waits for more.
    if (signal !== null) {
      await expect.poll(() => run.child.stdin?.writableLength === 0 && isReading(run)).toBe(true);
      run.kill(signal);
    }
    expect(codes).toContain((await run.ended()).code);
  });

  test.skipIf(!hasFuse)("holds up no restart and no end of a supervisor", async () => {
    const run = new Supervised(
      "processes: { web: { shell: 'echo up $$; exec sleep 1000', cwd: /, backoff: { duration: 10ms, factor: 1, cap: 10ms } } }",
      [],
      withoutFiles,
    );
    const [, first] = await run.printed(/up (\d+)/);
    symlinkSync(`${point}/x`, `${run.file}.new`);
    renameSync(`${run.file}.new`, run.file);
    await expect.poll(() => isHanging(run.child.pid as number)).toBe(true);
    process.kill(Number(first), "SIGKILL");
    const [, , second] = await run.printed(/up (\d+)[\s\S]*up (\d+)/);
    run.kill("SIGHUP");
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(143);
    expect(await survivors([Number(second)])).toEqual([]);
  });
});

/** Whether the pipe of stdin is empty. */
function isReading(run: Holdfast): boolean {
  return readFileSync(`/proc/${run.child.pid}/wchan`, "utf8").includes("epoll");
}

describe.skipIf(!hasFuse)("a file system that does not answer", () => {
  test.each(["file", "unix"])("is not waited for after the time limit: %s", async (kind) => {
    const run = new Holdfast(["wait", "--timeout", "500ms", `${kind}:${point}/x`], withoutFiles);
    await run.printed(/not ready after 500ms/);
    expect((await run.ended()).code).toBe(124);
  });

  test.each(["file", "unix"])("is not waited for after SIGTERM: %s", async (kind) => {
    const args = ["wait", "--attempt-timeout", "50ms", `${kind}:${point}/x`];
    const run = new Holdfast(args, withoutFiles);
    await run.printed(/no answer within/);
    run.kill("SIGTERM");
    expect((await run.ended()).code).toBe(143);
  });

  test("is not waited for after the command", async () => {
    const args = ["wait", "--any", `file:${point}/x`, `file:${ready}`, ...sh("exit 3")];
    expect((await new Holdfast(args, withoutFiles).ended()).code).toBe(3);
  });
});
