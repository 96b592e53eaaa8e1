import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { Holdfast, type RunOptions, sh } from "./holdfast.ts";

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
    const args = ["wait", "--timeout", "1s", "--server", "echo up $$; exec sleep 1000"];
    const run = new Holdfast([...args, "http://db.example/", ...sh("true")], withoutNames);
    const [, pid] = await run.printed(/up (\d+)/);
    expect(await firstOf(run)).toBe(124);
    expect(await survivors([Number(pid)])).toEqual([]);
  });

  test("is not waited for with a server, once for each name", async () => {
    const targets = Array.from({ length: 40 }, (_, index) => `tcp:h${index}.example:1`);
    const args = ["wait", "--timeout", "2s", "--server", "exec sleep 1000", ...targets];
    expect(await firstOf(new Holdfast([...args, ...sh("true")], withoutNames))).toBe(124);
  });

  test("is asked once for a name, however often it is checked", async () => {
    const often = ["--interval", "10ms", "--attempt-timeout", "20ms", "--timeout", "1s"];
    const run = new Holdfast(["wait", ...often, "tcp:db.example:1"], withoutNames);
    expect(await firstOf(run)).toBe(124);
    expect(questions).toHaveLength(2); // For both families.
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
