import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it, vi } from "vitest";
import type { HealthCheck } from "../../src/run/web/health.ts";
import { type ServeOptions, serve } from "../../src/run/web/serve.ts";
import type { ProcessSnapshot, Snapshot } from "../../src/run/web/snapshot.ts";
import { ScriptedStatus } from "./scripted-status.ts";

const web: ProcessSnapshot = {
  name: "web",
  phase: "Running",
  ready: undefined,
  reason: undefined,
  pid: 7,
  restarts: 0,
  lastExit: undefined,
  lastWords: undefined,
  output: undefined,
  spans: [],
  nextStart: undefined,
  waits: [],
  cap: 0,
};

// Sockets are real here, and time is not.

function world(options: Partial<ServeOptions> = {}) {
  const clock = new FakeClock({ now: 0 });
  const status = new ScriptedStatus(clock);
  const start = (more: Partial<ServeOptions> = {}) =>
    serve({ clock, port: 0, status, ...options, ...more });
  return { clock, status, start };
}

/** What a stream of events says, one after another, until it ends. */
async function listen(url: string, signal?: AbortSignal) {
  const response = await fetch(`${url}events`, { signal: signal ?? null });
  const texts = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    [Symbol.asyncIterator]();
  let rest = "";
  const next = async (): Promise<string> => {
    for (;;) {
      const [, data, more = ""] = /data: (.*)\n\n([\s\S]*)$/.exec(firstEvent(rest)) ?? [];
      if (data !== undefined) {
        rest = more + rest.slice(firstEvent(rest).length);
        const { at, file } = JSON.parse(data) as Snapshot;
        return `${at} ${file}`;
      }
      const { done, value = "" } = await texts.next().catch(() => ({ done: true, value: "" }));
      if (done === true) return "end";
      rest += value;
    }
  };
  return { next };
}

/** The text up to the end of the first event with data. */
function firstEvent(text: string): string {
  const end = text.indexOf("\n\n", Math.max(text.indexOf("data: "), 0));
  return end < 0 ? "" : text.slice(0, end + 2);
}

interface Question {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
}

function ask(url: string, { host, ...options }: Question = {}) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    const request = httpRequest(url, { agent: false, headers, ...options }, (response) => {
      response.resume();
      resolve(response);
    });
    request.on("error", reject).end();
  });
}

/** What the server sends on a connection that begins with this text, until it closes. */
async function repliesTo(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.setEncoding("utf8").on("data", (more: string) => {
    received += more;
  });
  socket.on("error", () => {}); // a connection that is cut
  socket.write(text);
  await once(socket, "close");
  return received;
}

const fine: HealthCheck = { name: "sources", problem: () => undefined };
const bad: HealthCheck = { name: "leader", problem: () => "nobody leads" };
const worse: HealthCheck = { name: "queue", problem: () => "stuck for 2m00s" };

describe("the responses of a server", () => {
  it("are the current snapshot, as JSON", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    await clock.step(7);
    status.show({ file: "other.yaml" });
    const response = await fetch(`${server.url}state`);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual(JSON.parse(JSON.stringify(status.snapshot())));
    expect(status.snapshot()).toMatchObject({ at: 7, file: "other.yaml" });
  });

  it.each([
    { name: "no checks", checks: [], status: 200, text: "ok\n" },
    { name: "checks that hold", checks: [fine], status: 200, text: "ok\n" },
    { name: "one that fails", checks: [fine, bad], status: 503, text: "leader: nobody leads\n" },
    {
      name: "two that fail",
      checks: [bad, fine, worse],
      status: 503,
      text: "leader: nobody leads\nqueue: stuck for 2m00s\n",
    },
  ])("tell its health: $name", async ({ checks, status, text }) => {
    const { start } = world();
    for (const [path, options] of [
      ["healthz", { alive: checks, ready: [] }],
      ["readyz", { alive: [], ready: checks }],
    ] as const) {
      await using server = await start(options);
      const response = await fetch(`${server.url}${path}`);
      expect([response.status, await response.text()]).toEqual([status, text]);
    }
  });

  it("tell its health check by check on request", async () => {
    const { start } = world();
    await using server = await start({ ready: [fine, bad] });
    const response = await fetch(`${server.url}readyz?verbose`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      ok: false,
      checks: [
        { name: "sources", ok: true },
        { name: "leader", ok: false, problem: "nobody leads" },
      ],
    });
  });

  it("are metrics in the format of Prometheus", async () => {
    const { status, start } = world();
    status.show({ processes: [web] });
    await using server = await start();
    const response = await fetch(`${server.url}metrics`);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toMatch(
      /^# HELP holdfast_process_running .*\n# TYPE holdfast_process_running gauge\nholdfast_process_running\{process="web"\} 1\n/,
    );
  });

  it("are output, a restart and a stop for the token alone, and for a name that exists", async () => {
    const done: string[] = [];
    const doing = (verb: string) => (name: string) => name === "web" && done.push(verb) > 0;
    const { start } = world({
      token: "secret",
      linesOf: (name) => (name === "web" ? ["a line"] : undefined),
      restart: doing("restart"),
      stop: doing("stop"),
    });
    await using server = await start();
    const statusOf = async (method: string, path: string, authorization: string) =>
      (await fetch(`${server.url}${path}`, { method, headers: { authorization } })).status;
    for (const [method, path] of [
      ["GET", "logs"],
      ["POST", "restart"],
      ["POST", "stop"],
    ] as const) {
      expect(await statusOf(method, `${path}?name=web`, "")).toBe(403);
      expect(await statusOf(method, `${path}?name=web&token=secret`, "")).toBe(403);
      expect(await statusOf(method, `${path}?name=web`, "Bearer secreT")).toBe(403);
      expect(await statusOf(method, `${path}?name=no`, "Bearer secret")).toBe(404);
      expect(await statusOf(method, `${path}?name=web`, "Bearer secret")).toBe(200);
    }
    expect(await statusOf("GET", "status", "")).toBe(403);
    expect(await statusOf("GET", "restart?name=web", "Bearer secret")).toBe(405);
    expect(await statusOf("GET", "stop?name=web", "Bearer secret")).toBe(405);
    expect(done).toEqual(["restart", "stop"]);
  });

  it("are a page with output and buttons for the token alone", async () => {
    const { status, start } = world({ token: "secret" });
    const output = ["<img src=x onerror=alert(1)>", "& more"];
    const lastExit = "code 1 after 2s";
    status.show({ processes: [{ ...web, output, lastExit, lastWords: "<i>no config" }] });
    await using server = await start();
    const textOf = async (path: string) => (await fetch(`${server.url}${path}`)).text();
    const own = await textOf("?token=secret");
    expect(own).toContain("<pre>&lt;img src=x onerror=alert(1)&gt;\n&amp; more</pre>");
    expect(own).toContain("code 1 after 2s, &quot;&lt;i&gt;no config&quot;");
    expect(own.match(/data-post="[^"]*"/g)).toEqual([
      'data-post="/restart?name=web"',
      'data-post="/stop?name=web"',
    ]);
    for (const path of ["", "?token=secreT", "state", "state?token=other"]) {
      const text = await textOf(path);
      expect(text).toContain("code 1 after 2s");
      expect(text).not.toMatch(/onerror|no config|data-post/);
    }
  });

  it("are the page with the state of the moment, which may run its own scripts only", async () => {
    const { status, start } = world();
    const stopped: ProcessSnapshot = { ...web, name: "db", phase: "Stopped", pid: undefined };
    status.show({ processes: [{ ...web, name: "<b>", lastExit: 'code 1, "<b>"' }, stopped] });
    await using server = await start();
    const response = await fetch(server.url);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'; /,
    );
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const html = await response.text();
    expect(html).toMatch(/^<!doctype html>/);
    expect(html).toContain("code 1, &quot;&lt;b&gt;&quot;");
    expect(html).not.toContain("<b>");
    expect(html.match(/<h2>[^<]*|pid \d+/g)).toEqual([
      "pid 1",
      "<h2>&lt;b&gt; ",
      "pid 7",
      "<h2>db ",
      "<h2>Changes, in UTC",
    ]);
  });

  it("include every file that the page refers to", async () => {
    const { start } = world();
    await using server = await start();
    const found = new Map<string, number>();
    const visit = async (url: URL): Promise<void> => {
      if (found.has(url.pathname)) return;
      found.set(url.pathname, 0);
      const response = await fetch(url);
      found.set(url.pathname, response.status);
      const links = (await response.text()).matchAll(/(?:src=|href=) ?"([./][^"]*)"/g);
      for (const [, link = ""] of links) await visit(new URL(link, url));
    };
    await visit(new URL(server.url));
    expect([...found.values()].filter((status) => status !== 200)).toEqual([]);
    expect([...found.keys()]).toEqual(["/", "/page.css", "/page.js"]);
  });

  it.each([
    { method: "GET", path: "/nothing", want: 404 },
    { method: "GET", path: "/page/../state", want: 400 },
    { method: "GET", path: "/page/%2e%2e/state", want: 400 },
    { method: "GET", path: "//elsewhere/state", want: 404 },
    { method: "GET", path: "http://elsewhere/state", want: 400 },
    { method: "POST", path: "/state", want: 405 },
    { method: "HEAD", path: "/state", want: 200 },
    { method: "HEAD", path: "/events", want: 200 },
  ])("are $want to $method $path", async ({ method, path, want }) => {
    const { start } = world();
    await using server = await start();
    expect((await ask(server.url, { method, path })).statusCode).toBe(want);
  });

  it.each([
    { host: "localhost", want: 200 },
    { host: "127.0.0.1:80", want: 200 },
    { host: "localhost.example.com", want: 421 },
    { host: "example.com:80", want: 421 },
  ])("are $want for the host $host", async ({ host, want }) => {
    const { start } = world();
    await using server = await start();
    expect((await ask(`${server.url}state`, { host })).statusCode).toBe(want);
  });

  it("are 421 without a host", async () => {
    const { start } = world();
    await using server = await start();
    expect(await repliesTo(server.url, "GET /state HTTP/1.0\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 421 [\s\S]*\r\n\r\nUse 127\.0\.0\.1 or localhost\.\n$/,
    );
  });

  it("are one at a time: a connection that does not wait for it is cut", async () => {
    const { status, start } = world();
    await using server = await start();
    const snapshot = vi.spyOn(status, "snapshot");
    await repliesTo(server.url, "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(3));
    expect(snapshot).toHaveBeenCalledTimes(1);
    expect((await fetch(`${server.url}state`)).status).toBe(200);
  });

  it("end where a stream fails after its head, and are normal after it", async () => {
    const { status, start } = world();
    await using server = await start();
    vi.spyOn(status, "snapshot").mockImplementationOnce(() => {
      throw new Error("no disk");
    });
    await expect(ask(server.url, { path: "/events" })).rejects.toThrow("socket hang up");
    const { next } = await listen(server.url);
    expect(await next()).toBe("0 demo.yaml");
  });

  it("are 500 after a failure, and normal after it", async () => {
    const { status, start } = world();
    await using server = await start();
    const problem = (): string => {
      throw new Error("no disk");
    };
    await using failing = await start({ alive: [{ name: "bad", problem }] });
    const response = await fetch(`${failing.url}healthz`);
    expect([response.status, await response.text()]).toEqual([500, "The state cannot be shown.\n"]);
    expect((await fetch(`${server.url}state`)).status).toBe(200);
    expect(status.listeners).toBe(8);
  });
});

describe("a stream of events", () => {
  it("begins with the current state, continues after a change, and keeps 100 ms between two events", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    status.show({ file: "a" });
    const { next } = await listen(server.url);
    expect(await next()).toBe("0 a");
    status.show({ file: "b" });
    status.show({ file: "c" });
    await clock.step(60);
    status.show({ file: "d" });
    await clock.step(200);
    status.show({ file: "e" });
    await clock.step(99);
    status.show({ file: "f" });
    await clock.step(1);
    expect([await next(), await next(), await next(), await next()]).toEqual([
      "0 b",
      "100 d",
      "260 e",
      "360 f",
    ]);
  });

  it("repeats the state each second without a change", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    status.show({ file: "a" });
    const { next } = await listen(server.url);
    await clock.step(1_500);
    status.show({ file: "b" });
    await clock.step(1_000);
    const told = [await next(), await next(), await next(), await next()];
    expect(told).toEqual(["0 a", "1000 a", "1500 b", "2500 b"]);
  });

  it("sends to all clients, and arms no timer without a client", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    status.show({ file: "a" });
    expect(clock.waiters()).toBe(0);
    const streams = await Promise.all([listen(server.url), listen(server.url)]);
    for (const { next } of streams) expect(await next()).toBe("0 a");
    await clock.step(50);
    status.show({ file: "b" });
    for (const { next } of streams) expect(await next()).toBe("50 b");
  });

  it("drops disconnected clients", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    const stop = new AbortController();
    await listen(server.url, stop.signal);
    expect(clock.waiters()).toBe(1);
    stop.abort();
    while (clock.waiters() > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    status.show({ file: "b" });
    expect(clock.waiters()).toBe(0);
  });

  it("skips snapshots for a slow reader, then sends the latest", async () => {
    const { clock, status, start } = world();
    await using server = await start();
    const response = await new Promise<IncomingMessage>((resolve) => {
      httpRequest(`${server.url}events`, { agent: false }, resolve).end();
    });
    // 40 MB are more than any system keeps for a reader.
    const file = "x".repeat(400_000);
    for (let turn = 1; turn <= 100; turn++) {
      status.show({ file: `${turn} ${file}` });
      await clock.step(100);
    }
    status.show({ file: "last" });
    await clock.step(100);
    let received = "";
    for await (const text of response.setEncoding("utf8")) {
      received += text;
      if (received.includes('"file":"last"')) break;
    }
    expect(received.length).toBeLessThan(30_000_000);
  });
});

describe("the end of a server", () => {
  it("ends its streams and leaves no timer, no listener and no port", async () => {
    const { clock, status, start } = world();
    const server = await start();
    const { next } = await listen(server.url);
    await next();
    status.show({ file: "a" });
    await next();
    const idle = fetch(`${server.url}state`);
    await (await idle).text();
    await server[Symbol.asyncDispose]();
    expect(await next()).toBe("end");
    expect(clock.waiters()).toBe(0);
    expect(status.listeners).toBe(0);
    await expect(ask(server.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await server[Symbol.asyncDispose]();
  });

  it("cuts a client off that is in the middle of a request, after a second", async () => {
    const { clock, start } = world();
    const server = await start();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    const cut = once(socket, "close");
    socket.write("GET /sta");
    await (await fetch(`${server.url}state`)).text(); // later: the server has the other connection
    let isClosed = false;
    const closed = server[Symbol.asyncDispose]().then(() => {
      isClosed = true;
    });
    await clock.step(999);
    for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    expect(isClosed).toBe(false);
    await clock.step(1);
    // Node itself cuts it off after a minute.
    await expect.poll(() => isClosed, { timeout: 50_000 }).toBe(true);
    await Promise.all([closed, cut]);
    expect(clock.waiters()).toBe(0);
  });

  it("comes at once if the port is in use", async () => {
    const { status, start } = world();
    await using first = await start();
    const port = Number(new URL(first.url).port);
    await expect(start({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(status.listeners).toBe(4);
  });
});
