import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Clock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "../../../services/free-port.mjs";
import { survivors } from "../../../test/processes.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { createTarget, type TargetOptions } from "../src/target.ts";
import { type Ended, Holdfast, holdfast, limited, sh } from "./holdfast.ts";
import { listen } from "./listen.ts";

const folder = () => tempFolder(onTestFinished);
const quick = ["wait", "--interval", "20ms", "--timeout", "2s"];
const patient = ["wait", "--interval", "20ms", "--timeout", "0"];

/** Runs a wait until its time limit, after it has printed a reason for so many targets. */
async function inVain(targets: number, ...args: string[]): Promise<Ended> {
  const { run } = await limited(
    new RegExp(Array.from({ length: targets }, () => "waiting for").join("[^]*")),
    (limit) => new Holdfast(["wait", "--interval", "20ms", "--timeout", limit, ...args]),
  );
  return await run.ended();
}

async function http(listener: RequestListener, host?: string): Promise<number> {
  return await listen(createHttpServer(listener), host);
}

describe("holdfast wait tcp", () => {
  test("waits for a port, says why, and runs the command", async () => {
    const port = await freePort();
    const run = new Holdfast([...patient, `tcp:${port}`, ...sh("echo command; exit 3")]);
    await run.printed(/connection refused/);
    await listen(createServer(), "127.0.0.1", port);
    expect(await run.ended()).toEqual({
      code: 3,
      stdout: "command\n",
      lines: [
        `waiting for tcp:localhost:${port}: connection refused`,
        `tcp:localhost:${port} is ready after …`,
      ],
    });
  });

  test.each(["::1", "127.0.0.1"])("finds a server on %s under localhost", async (host) => {
    const port = await listen(createServer(), host);
    const shown = host === "::1" ? "[::1]" : host;
    for (const target of [`tcp:${port}`, `tcp:localhost:${port}`, `tcp:${shown}:${port}`])
      expect((await holdfast([...patient, target])).code).toBe(0);
  });

  test.each([
    ["answers in another protocol", "SSH-2.0-x\r\n", "no HTTP on this port"],
    [
      "has endless headers",
      `HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`,
      "headers of the response above 16 KB",
    ],
    [
      "hangs up within the body",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nab",
      "connection reset",
    ],
  ])("says why, of a server that %s", async (_, answer, reason) => {
    const port = await listen(createServer((socket) => socket.on("error", () => {}).end(answer)));
    const url = `http://127.0.0.1:${port}/`;
    const { code, lines } = await inVain(1, "--body", "text", url);
    expect([code, lines.at(-1)]).toEqual([124, `${url} not ready after …: ${reason}`]);
  });

  test("does not take a connection that is closed at once for a server", async () => {
    const port = await listen(createServer((socket) => socket.destroy()));
    const clock: Clock = new FakeClock(); // it stands still: a slow server is not too late
    const target = createTarget(`tcp:127.0.0.1:${port}`, { clock } as TargetOptions);
    const checking = target.check(new AbortController().signal);
    await expect(checking).rejects.toThrow("connection closed at once");
  });

  test("treats a name that does not resolve as not yet", async () => {
    const { code, lines } = await inVain(2, "tcp:nowhere.invalid:80", "dns:nowhere.invalid");
    expect([code, lines.sort()]).toEqual([
      124,
      [
        "dns:nowhere.invalid not ready after …: name not found",
        "tcp:nowhere.invalid:80 not ready after …: name not found",
        "waiting for dns:nowhere.invalid: name not found",
        "waiting for tcp:nowhere.invalid:80: name not found",
      ],
    ]);
  });

  test("waits for a socket that accepts, not for its file", async () => {
    const path = join(folder(), "socket");
    writeFileSync(path, "");
    expect((await holdfast([...quick, `unix:${path}`])).code).toBe(124);
    const other = join(folder(), "socket");
    const server = createServer().listen(other);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    expect((await holdfast([...patient, `unix:${other}`])).code).toBe(0);
  });
});

describe("holdfast wait http", () => {
  test("prints each change of reason once", async () => {
    const answers = [503, 503, 503, 404, 404, 200];
    const port = await http((_, response) => {
      response.writeHead(answers.length > 1 ? (answers.shift() as number) : 200).end();
    }, "::1");
    const { code, lines } = await holdfast([
      ...patient,
      `http://localhost:${port}/ready?token=secret`,
    ]);
    const name = `http://localhost:${port}/ready`;
    expect([code, lines]).toEqual([
      0,
      [
        `waiting for ${name}: HTTP 503`,
        `waiting for ${name}: HTTP 404`,
        `${name} is ready after …`,
      ],
    ]);
  });

  test("sends method, headers and credentials, and prints none of them", async () => {
    const seen: unknown[] = [];
    const port = await http(({ method, headers }, response) => {
      seen.push([method, headers.authorization, headers["x-key"], headers.host]);
      response.writeHead(500).end();
    });
    const request = ["--method", "HEAD", "--header", "X-Key: hidden"];
    const { lines } = await inVain(1, ...request, `http://user:pass@127.0.0.1:${port}/`);
    expect(seen[0]).toEqual(["HEAD", "Basic dXNlcjpwYXNz", "hidden", `127.0.0.1:${port}`]);
    expect(lines.join("\n")).not.toMatch(/user|pass|hidden/);
  });

  test("judges statuses and bodies", async () => {
    const port = await http((_, response) =>
      response.writeHead(302, { location: "/end" }).end("up"),
    );
    const url = `http://127.0.0.1:${port}/`;
    for (const good of [[], ["--status", "200,300-303"], ["--body", "up"], ["--body", "/^u.$/i"]])
      expect((await holdfast([...patient, ...good, url])).code).toBe(0);
    for (const bad of [["--status", "200,301"], ["--body", "down"], ["--follow"]])
      expect((await inVain(1, ...bad, url)).code).toBe(124);
  });

  test("follows redirects, without the credentials for another origin", async () => {
    const seen: (string | undefined)[] = [];
    const other = await http(({ headers }, response) => {
      seen.push(headers.authorization);
      response.writeHead(204).end();
    });
    const port = await http((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${other}/` }).end(),
    );
    const { code } = await holdfast([...patient, "--follow", `http://u:p@127.0.0.1:${port}/`]);
    expect([code, seen]).toEqual([0, [undefined]]);
  });

  test("says of a check that has not ended that it gave no answer", async () => {
    const { run } = await limited(
      /no answer yet/,
      (limit) => new Holdfast(["wait", "--timeout", limit, "exec:sleep 1000"]),
    );
    const { code, lines } = await run.ended();
    expect([code, lines.at(-1)]).toEqual([124, "exec:sleep… not ready after …: no answer yet"]);
  });

  test("gives up a request that hangs, and asks again", async () => {
    let requests = 0;
    const port = await http((_, response) => {
      if (++requests > 1) response.end();
    });
    const { code, lines } = await holdfast([
      ...patient,
      ...["--attempt-timeout", "200ms"],
      `http://127.0.0.1:${port}`,
    ]);
    expect([code, lines[0]]).toEqual([
      0,
      `waiting for http://127.0.0.1:${port}/: no answer within …`,
    ]);
  });

  test("ends at the third untrusted certificate with a hint, unless told to trust", async () => {
    const [dir] = [folder()];
    const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
    execFileSync(
      "openssl",
      [
        ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" "),
        ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
        ...["-keyout", key, "-out", cert],
      ],
      { stdio: "ignore" },
    );
    const tls = { key: readFileSync(key), cert: readFileSync(cert) };
    const port = await listen(createHttpsServer(tls, (_, response) => response.end()));
    const url = `https://localhost:${port}/`;
    const { code, lines } = await holdfast([...patient, url]);
    expect([code, lines.at(-1)]).toEqual([
      125,
      `${url}: certificate not trusted: DEPTH_ZERO_SELF_SIGNED_CERT; pass --cacert FILE, or -k to accept any`,
    ]);
    expect((await holdfast([...patient, "-k", url])).code).toBe(0);
    expect((await holdfast([...patient, "--cacert", cert, url])).code).toBe(0);
  });

  test("uses a proxy of the environment only if told", async () => {
    const asked: (string | undefined)[] = [];
    const proxy = await http(({ url }, response) => {
      asked.push(url);
      response.end();
    });
    const env = {
      HTTP_PROXY: `http://127.0.0.1:${proxy}`,
      http_proxy: "",
      NO_PROXY: "",
      no_proxy: "",
    };
    const url = "http://holdfast.invalid/x";
    expect((await holdfast([...quick, url], { env })).code).toBe(124);
    expect((await holdfast([...patient, "--proxy", "env", url], { env })).code).toBe(0);
    expect(asked).toEqual([url]);
  });
});

describe("holdfast wait file and exec", () => {
  test("waits for a file that is no folder and no longer changes", async () => {
    const path = join(folder(), "file");
    mkdirSync(join(path, "..", "dir"));
    writeFileSync(path, "");
    const { code, lines } = await holdfast([...patient, `file:${path}`]);
    expect([code, lines[0]]).toEqual([0, `waiting for file:${path}: may still be written`]);
    const directory = await inVain(1, `file:${join(path, "..", "dir")}`);
    expect([directory.code, directory.lines[0]]).toEqual([
      124,
      expect.stringContaining("is a directory"),
    ]);
  });

  test("waits for a command, shows no argument, and kills a check that takes too long", async () => {
    const dir = folder();
    const [pids, count] = [join(dir, "pids"), join(dir, "count")];
    const line = `echo $$ >> ${pids}; echo >> ${count}; [ $(wc -l < ${count}) -ge 3 ] || sleep 1000`;
    const { code, lines } = await holdfast([
      ...patient,
      "--attempt-timeout",
      "300ms",
      `exec:${line}`,
    ]);
    expect([code, lines[0]]).toEqual([0, "waiting for exec:echo…: no answer within …"]);
    expect(await survivors(readFileSync(pids, "utf8").trim().split("\n").map(Number))).toEqual([]);
  });
});

describe("several targets", () => {
  test("lists the open ones at the end of the time, and does not run the command", async () => {
    const port = await listen(createServer());
    const targets = [`tcp:${port}`, "file:/nonexistent", "exec:exit 3"];
    const { code, stdout, lines } = await inVain(2, ...targets, ...sh("echo command"));
    expect([code, stdout, lines.slice(-2)]).toEqual([
      124,
      "",
      [
        "file:/nonexistent not ready after …: does not exist",
        "exec:exit… not ready after …: exit 3",
      ],
    ]);
    const always = [...quick, "--always", "file:/nonexistent", ...sh("exit 4")];
    expect((await holdfast(always)).code).toBe(4);
  });

  test("needs one of them with --any", async () => {
    const port = await listen(createServer());
    expect((await holdfast([...patient, "--any", "file:/nonexistent", `tcp:${port}`])).code).toBe(
      0,
    );
  });

  test("waits until all are gone with --not", async () => {
    const server = createServer();
    const port = await listen(server);
    const run = new Holdfast([...patient, "--not", `tcp:127.0.0.1:${port}`, "file:/nonexistent"]);
    await run.printed(/still there/);
    server.close();
    expect((await run.ended()).code).toBe(0);
  });

  test("wants as many successes in a row as --stable says", async () => {
    let requests = 0;
    const port = await http((_, response) =>
      response.writeHead([200, 503, 200, 200, 200][requests++] ?? 200).end(),
    );
    await holdfast([...patient, "--stable", "3", `http://127.0.0.1:${port}`]);
    expect(requests).toBe(5);
  });
});

describe("holdfast wait --server", () => {
  const serverLine = (port: number) =>
    `echo starting; ${process.execPath} -e 'require("http").createServer((q,s)=>s.end()).listen(${port})' & echo pid $!; wait`;

  test("starts the server, runs the command, and stops all processes of the server", async () => {
    const port = await freePort();
    const run = new Holdfast([
      ...patient,
      ...["--server", serverLine(port), `http://localhost:${port}`],
      ...sh("echo command; exit 6"),
    ]);
    const [, pid] = await run.printed(/pid (\d+)/);
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([6, "command\n"]);
    expect(await survivors([Number(pid)])).toEqual([]);
  });

  test("fails at once with the last line of a server that ends", async () => {
    const args = [
      "--server",
      "echo one; echo address in use >&2; exit 3",
      `tcp:${await freePort()}`,
    ];
    const { code, stdout, lines } = await holdfast([...patient, ...args, ...sh("echo command")]);
    expect([code, stdout, lines.at(-1)]).toEqual([
      125,
      "",
      "the server has ended: exit 3: address in use",
    ]);
  });

  test.each([["file:/nonexistent"], ["exec:true"]])(
    "kills the server at a second SIGTERM during its stop, with the target %s",
    async (target) => {
      const line = "trap 'echo stops' TERM; echo runs; while :; do sleep 0.1; done";
      const options = ["--grace", "1000s", "--server", line, target];
      const run = new Holdfast(["wait", ...options, ...sh("exec sleep 1000")]);
      await run.printed(/runs/);
      run.kill("SIGTERM");
      await run.printed(/stops/);
      // The same wish within a second.
      const again = setInterval(() => run.kill("SIGTERM"), 200);
      onTestFinished(() => clearInterval(again));
      expect((await run.ended()).code).toBe(143);
    },
  );

  test("refuses a port that answers before the server starts", async () => {
    const port = await listen(createServer());
    const args = ["--server", "echo started", `tcp:127.0.0.1:${port}`];
    const { code, lines } = await holdfast([...patient, ...args, ...sh("true")]);
    expect([code, lines]).toEqual([
      125,
      [`tcp:127.0.0.1:${port} answers before the server starts: stop the other process`],
    ]);
  });
});

describe("signals to holdfast wait", () => {
  test("end the wait with 128 + N", async () => {
    const run = new Holdfast(["wait", "file:/nonexistent", ...sh("echo command")]);
    await run.printed(/does not exist/);
    run.kill("SIGTERM");
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([143, ""]);
  });

  test("stop the server too", async () => {
    const line = "echo pid $$; exec sleep 1000";
    const run = new Holdfast(["wait", "--server", line, "file:/nonexistent", ...sh("true")]);
    const [, pid] = await run.printed(/pid (\d+)/);
    run.kill("SIGINT");
    expect((await run.ended()).code).toBe(130);
    expect(await survivors([Number(pid)])).toEqual([]);
  });

  test("end the look for another server with 128 + N", async () => {
    const server = createHttpServer(); // never answers
    const port = await listen(server);
    const args = ["--server", "echo started", `http://127.0.0.1:${port}`];
    const run = new Holdfast(["wait", ...args, ...sh("true")]);
    await once(server, "request");
    run.kill("SIGTERM");
    const { code, lines } = await run.ended();
    expect([code, lines]).toEqual([143, []]);
  });

  test("go to the command", async () => {
    const line = "trap 'echo got; exit 5' TERM; echo up; while :; do sleep 0.05; done";
    const run = new Holdfast(["wait", "exec:true", ...sh(line)]);
    await run.printed(/up/);
    run.kill("SIGTERM");
    const { code, stdout } = await run.ended();
    expect([code, stdout]).toEqual([5, "up\ngot\n"]);
  });
});

describe("the arguments of holdfast wait", () => {
  test.each([
    [[], "there is no target"],
    [["8080"], "8080 is no target"],
    [["npm", "test"], "npm is no target"],
    [["tcp:"], "has nothing after its scheme"],
    [["tcp:host"], "needs a port from 1 to 65535"],
    [["tcp:host:70000"], "needs a port from 1 to 65535"],
    [["udp:53"], "is no target"],
    [["http://"], "is no valid URL"],
    [["http://user:secret@[bad/"], "http://…@[bad/ is no valid URL"],
    [["user:secret@host:1"], "user:…@host:1 is no target"],
    [["--timeout", "60", "tcp:1"], "60 has no unit"],
    [["--interval", "0", "tcp:1"], "Expected more than 0"],
    [["--stable", "0", "tcp:1"], "at least 1"],
    [["--status", "600", "http://x"], "Expected statuses"],
    [["--header", "secret", "http://x"], 'Expected "Name: value"'],
    [["--cacert", "/nonexistent", "https://x"], "ENOENT"],
    [["--server", "true", "tcp:1"], "--server needs a command"],
    [["--always", "tcp:1"], "--always needs a command"],
  ])("refuses %j", async (args, words) => {
    const { code, stdout, lines } = await holdfast(["wait", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(lines.join("\n")).toContain(words);
  });
});
