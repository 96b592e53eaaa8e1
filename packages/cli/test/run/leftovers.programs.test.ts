import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAlive, survivors } from "../../../../test/processes.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { Holdfast, holdfast, limited } from "../holdfast.ts";
import { Supervised } from "./supervised.ts";

const told = join(tempFolder(), "told");

/** A process that starts a daemon with a session of its own, and goes on when that has said its pid. */
const daemon = (rest: string): string =>
  `export UP=${told}.$$; setsid sh -c 'trap "echo > ${told}; exit" TERM; echo daemon $$; touch $UP; exec 2> /dev/null; while :; do sleep 0.05; done' & until test -e $UP; do sleep 0.05; done; ${rest}`;

function manifest(rest: string, more = ""): string {
  return `processes: { web: { shell: ${JSON.stringify(daemon(rest))}${more} } }`;
}

const DAEMON = /daemon (\d+)/;

async function daemonIn(run: Holdfast): Promise<number> {
  const [, pid] = await run.printed(DAEMON);
  onTestFinished(() => {
    if (isAlive(Number(pid))) process.kill(Number(pid), "SIGKILL");
  });
  return Number(pid);
}

describe.skipIf(process.platform !== "linux")("a daemon with a session of its own", () => {
  test.each([
    ["SIGTERM", manifest("wait")],
    ["SIGQUIT", manifest("wait")],
    ["the end of its time", manifest("wait")],
    ["the end of its processes", manifest("exit 0", ", restart: Never")],
    ["the end of one process", manifest("exit 3", ", exitOnEnd: true")],
  ])("is left alone by the next start after a run that ended by %s", async (name, yaml) => {
    const start = (limit?: string) =>
      new Supervised(yaml, limit === undefined ? [] : ["--for", limit]);
    const run = name === "the end of its time" ? (await limited(DAEMON, start)).run : start();
    const pid = await daemonIn(run);
    if (name === "SIGTERM" || name === "SIGQUIT") run.kill(name);
    await run.ended();
    expect(isAlive(pid)).toBe(true);
    run.edit("processes: { other: { shell: echo other, restart: Never } }");
    for (let start = 0; start < 2; start++) {
      const next = await holdfast(["run", run.file], { env: run.env });
      expect([next.code, next.lines.filter((line) => line.includes("has left"))]).toEqual([0, []]);
    }
    expect(isAlive(pid)).toBe(true);
    expect(readdirSync(join(dirname(run.file), "holdfast"))).toEqual([]);
  });

  test("is told to stop, by name, by the next start after a supervisor that was killed", async () => {
    const run = new Supervised(manifest("wait"));
    const pid = await daemonIn(run);
    run.kill("SIGKILL");
    await holdfast(["run", "status"], { env: run.env }); // It forgets the supervisor, not the daemon.
    run.edit("processes: { other: { shell: echo other, restart: Never } }");
    const next = await holdfast(["run", run.file], { env: run.env });
    expect([next.code, next.lines]).toEqual([
      0,
      expect.arrayContaining([
        `stopping process ${pid}, which an earlier holdfast run has left: sh`,
      ]),
    ]);
    expect(await survivors([pid])).toEqual([]);
    expect(existsSync(told)).toBe(true);
  });

  test("of a run in good order stays, beside one of a supervisor that was killed later", async () => {
    const run = new Supervised(manifest("wait"));
    const first = await daemonIn(run);
    run.kill("SIGTERM");
    await run.ended();
    const killed = new Holdfast(["run", run.file], { env: run.env });
    const second = await daemonIn(killed);
    killed.kill("SIGKILL");
    run.edit("processes: { other: { shell: echo other, restart: Never } }");
    expect((await holdfast(["run", run.file], { env: run.env })).code).toBe(0);
    expect([isAlive(first), await survivors([second])]).toEqual([true, []]);
  });

  test("is killed then after the grace if it ignores SIGTERM", async () => {
    const yaml = manifest("wait").replace(`echo > ${told}; exit`, "");
    const run = new Supervised(yaml);
    const pid = await daemonIn(run);
    run.kill("SIGKILL");
    const next = new Holdfast(["run", run.file, "--grace", "100ms"], { env: run.env });
    await next.printed(/web: Running/);
    expect(await survivors([pid])).toEqual([]);
    next.kill("SIGTERM");
    await next.ended();
  });
});
