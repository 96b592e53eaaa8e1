import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { survivors } from "../../../../test/processes.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { holdfast } from "../holdfast.ts";
import { manifestFile, Supervised } from "./supervised.ts";

const directory = tempFolder();

describe("commands beside holdfast run FILE", () => {
  test("status, logs, restart, stop and page ask the running supervisor", async () => {
    const run = new Supervised(`
processes:
  web: { shell: 'echo one; echo two; exec sleep 1000' }
  job: { shell: 'exit 3', restart: Never }
`);
    const first = await run.pidOf("web");
    await run.printed(/web \| two\n/);
    await run.printed(/job: Failed/);
    expect(await holdfast(["run", "status"], { env: run.env })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        new RegExp(
          `^web: Running, pid ${first}, 0 restarts\njob: Failed, 0 restarts, code 3 after `,
        ),
      ) as string,
    });
    const logs = ["run", "logs", "web", "-n", "1", "--file", run.file];
    expect(await holdfast(logs, { env: run.env })).toMatchObject({ code: 0, stdout: "two\n" });
    expect((await holdfast(["run", "restart", "web"], { env: run.env })).code).toBe(0);
    await run.printed(/web: Terminating, asked to restart/);
    await run.pidOf("web", 2);
    expect(await survivors([first])).toEqual([]);
    expect(await holdfast(["run", "restart", "no"], { env: run.env })).toMatchObject({
      code: 125,
      lines: ["no such process"],
    });
    expect((await holdfast(["run", "stop", "web"], { env: run.env })).code).toBe(0);
    await run.printed(/web: Terminating, asked to stop/);
    await run.printed(/web: Stopped/);
    const { stdout } = await holdfast(["run", "page"], { env: run.env });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\da-f]{32}\n$/);
    const html = await (await fetch(stdout.trim())).text();
    expect(html).toContain("one\ntwo");
    // Its log may be read by others: it has no token.
    await run.printed(/its page: http:\/\/127\.0\.0\.1:\d+\/\n/);
    run.kill("SIGTERM");
    await run.ended();
  });

  test.skipIf(process.platform !== "linux")(
    "the address on a terminal has the token, and the page itself has none",
    async () => {
      const yaml = "processes: { web: { shell: 'exec sleep 1000' } }";
      const run = new Supervised(yaml, [], { terminal: true, env: { CI: "1" } });
      const [, url = ""] = await run.printed(/its page: (\S+\?token=[\da-f]{32})\r?\n/);
      expect(await (await fetch(url)).text()).not.toContain("token=");
      run.kill("SIGTERM");
      await run.ended();
    },
  );

  test("say that there is no supervisor", async () => {
    const { code, lines } = await holdfast(["run", "status"], {
      env: { XDG_RUNTIME_DIR: directory },
    });
    expect([code, lines]).toEqual([2, ["error: no holdfast run with a page is running"]]);
  });

  test.each([
    ["-", 'exec "$@" - < "$0"'],
    ["stdin by its path", 'exec "$@" /dev/stdin < "$0"'],
    ["an open file", 'exec "$@" /dev/fd/3 3< "$0"'],
    ["an open pipe", '{ cat "$0"; sleep 0.1; } | { exec 3<&0; exec "$@" /dev/fd/3 3<&3; }'],
    ["a pipe with a name", 'mkfifo "$0.pipe"; cat "$0" > "$0.pipe" & exec "$@" "$0.pipe"'],
  ])("check reads a manifest to its end from %s", async (_, line) => {
    const file = manifestFile(`processes: { a: { command: 1 } } # ${"x".repeat(300_000)}\nb: 1\n`);
    const { code, lines } = await holdfast(["run", "check"], { within: ["sh", "-c", line, file] });
    expect([code, lines.join("\n").includes(":2:1: ")]).toEqual([2, true]);
  });

  test("check shows every mistake with its line", async () => {
    const good = manifestFile("processes: { a: { shell: 'true' } }");
    expect(await holdfast(["run", "check", good])).toMatchObject({ code: 0, lines: [] });
    const bad = manifestFile(`
processes:
  a: { command: x, dependsOn: { b: started } }
  b: { command: x, dependsOn: { a: started, c: completed, d: ready } }
  d: { command: x }
`);
    const { code, lines } = await holdfast(["run", "check", bad]);
    expect(code).toBe(2);
    expect(
      lines.filter((line) => line.startsWith(bad)).map((line) => line.slice(bad.length)),
    ).toEqual([
      ":3:33: processes.a.dependsOn.b is a cycle: a → b → a",
      ":4:33: processes.b.dependsOn.a is a cycle: b → a → b",
      ":4:45: processes.b.dependsOn.c is no process of this manifest",
      ":4:59: processes.b.dependsOn.d waits for ready; expected a readiness check of d",
    ]);
  });

  test("import makes a manifest of a Procfile", async () => {
    const file = join(directory, "Procfile");
    writeFileSync(file, "# all\nweb: node server.js $PORT\nworker: node worker.js\nnonsense\n");
    expect(await holdfast(["run", "import", file])).toEqual({
      code: 0,
      stdout:
        "processes:\n  web:\n    shell: node server.js $PORT\n    exitOnEnd: true\n  worker:\n    shell: node worker.js\n    exitOnEnd: true\n",
      lines: ["no process: nonsense"],
    });
  });

  test("import makes a manifest of a process-compose.yaml, and names what has no counterpart", async () => {
    const file = join(directory, "process-compose.yaml");
    writeFileSync(
      file,
      `version: "0.5"
processes:
  db:
    command: postgres
    environment: [A=b=c]
    availability: { restart: always, max_restarts: 3, backoff_seconds: 2 }
    readiness_probe: { http_get: { host: localhost, port: 80, path: /ok }, period_seconds: 5 }
    shutdown: { signal: 2, timeout_seconds: 7 }
  web:
    command: npm start
    namespace: x
    depends_on: { db: { condition: process_healthy } }
`,
    );
    const { code, stdout, lines } = await holdfast(["run", "import", file]);
    expect([code, lines]).toEqual([
      0,
      [
        "processes.db.readiness_probe.http_get.host has no counterpart",
        "processes.web.namespace has no counterpart",
      ],
    ]);
    expect(parse(stdout)).toEqual({
      processes: {
        db: {
          restart: "Always",
          shell: "postgres",
          env: { A: "b=c" },
          readiness: { http: 80, path: "/ok", period: "5s" },
          maxRestarts: 3,
          backoff: { duration: "2s", factor: 1 },
          stopSignal: "SIGINT",
          grace: "7s",
        },
        web: { restart: "Never", shell: "npm start", dependsOn: { db: "ready" } },
      },
    });
    const checked = manifestFile(stdout);
    expect((await holdfast(["run", "check", checked])).code).toBe(0);
  });
});
