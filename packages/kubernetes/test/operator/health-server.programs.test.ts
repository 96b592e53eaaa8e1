import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { Manager, silentLogger } from "@holdfast/controller";
import { HealthServer, type HealthServerOptions } from "@holdfast/kubernetes";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const HOST = "127.0.0.1";

/** Runs a server on a free port while `use` lasts. */
async function serving(
  options: HealthServerOptions,
  use: (url: string, server: HealthServer) => Promise<void>,
): Promise<void> {
  const server = new HealthServer({ port: 0, host: HOST, ...options });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  await server.ready();
  try {
    await use(`http://${HOST}:${server.port}`, server);
  } finally {
    stop.abort();
    await running;
  }
  expect([server.port, abortListeners(stop.signal)]).toEqual([0, 0]);
}

const answerOf = async (response: Response): Promise<unknown[]> => [
  response.status,
  response.headers.get("content-type"),
  await response.text(),
];
const TEXT = "text/plain; charset=utf-8";

describe("HealthServer", () => {
  it("keeps the process alive unless ref is false", async () => {
    const servers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;
    const before = servers();
    for (const [ref, more] of [
      [true, 1],
      [false, 0],
    ] as const) {
      const stop = new AbortController();
      const server = new HealthServer({ port: 0, host: HOST });
      const running = server.run(stop.signal, { ref });
      await server.ready();
      // A server that has ended is in the list until its handle is closed.
      await vi.waitFor(() => expect(servers() - before).toBe(more));
      stop.abort();
      await running;
    }
  });

  it.each<[string, HealthServerOptions, string, unknown[]]>([
    ["no check", {}, "/readyz", [200, TEXT, "ok"]],
    [
      "checks that pass",
      { live: { lease: () => true, disk: () => true } },
      "/healthz?verbose",
      [200, TEXT, "lease ok\ndisk ok"],
    ],
    [
      "a check that fails",
      { ready: { lease: () => true, disk: () => false } },
      "/readyz",
      [503, TEXT, "lease ok\ndisk failed"],
    ],
    [
      "a check that throws, without its error",
      {
        live: {
          disk: () => {
            throw new Error("secret");
          },
        },
      },
      "/healthz",
      [503, TEXT, "disk failed"],
    ],
    ["checks of the other probe", { live: { lease: () => false } }, "/readyz", [200, TEXT, "ok"]],
    ["no metrics", {}, "/metrics", [404, TEXT, "not found"]],
    [
      "metrics",
      { metrics: async () => "up 1\n" },
      "/metrics",
      [200, "text/plain; version=0.0.4; charset=utf-8", "up 1\n"],
    ],
    [
      "metrics that fail, without their error",
      { metrics: () => Promise.reject(new Error("secret")) },
      "/metrics",
      [500, TEXT, "metrics failed"],
    ],
    ["another path", {}, "/debug", [404, TEXT, "not found"]],
  ])("responds with %s", async (_name, options, path, expected) => {
    await serving(options, async (url) => {
      expect(await answerOf(await fetch(url + path))).toEqual(expected);
    });
  });

  it("runs the checks at each probe", async () => {
    let isReady = false;
    await serving({ ready: { cache: () => isReady } }, async (url) => {
      expect((await fetch(`${url}/readyz`)).status).toBe(503);
      isReady = true;
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    });
  });

  it("responds to HEAD without a body, and rejects other methods", async () => {
    await serving({}, async (url) => {
      expect(await answerOf(await fetch(`${url}/healthz`, { method: "HEAD" }))).toEqual([
        200,
        TEXT,
        "",
      ]);
      expect((await fetch(`${url}/healthz`, { method: "POST" })).status).toBe(405);
    });
  });

  it("stops at once, also with open connections and a hanging response", async () => {
    const closed: Promise<unknown>[] = [];
    const start = realClock.monotonic();
    await serving({ metrics: () => new Promise(() => {}) }, async (_url, server) => {
      for (const text of ["", "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"]) {
        const socket = connect(server.port, HOST);
        await new Promise<void>((resolve) => socket.once("connect", resolve));
        socket.write(text);
        socket.on("error", () => {});
        closed.push(new Promise((resolve) => socket.once("close", resolve)));
      }
    });
    await Promise.all(closed);
    expect(realClock.monotonic() - start).toBeLessThan(2_000);
  });

  it("rejects with the port in use, and ends its manager with that one problem", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, HOST, resolve));
    const { port } = other.address() as { port: number };
    const manager = new Manager({ clock: new FakeClock(), logger: silentLogger });
    manager.add(new HealthServer({ port, host: HOST }));
    const { signal } = new AbortController();
    const error = await manager.run(signal).catch((reason: unknown) => reason);
    expect((error as AggregateError).errors.map(String)).toEqual([
      expect.stringContaining(
        `"health" failed: cannot listen on options.port ${port}: listen EADDRINUSE`,
      ),
    ]);
    other.close();
  });

  it("does not begin with an aborted signal, and runs once", async () => {
    const server = new HealthServer({ port: 0, host: HOST });
    const reason = new Error("stop");
    await expect(server.run(AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(server.run(new AbortController().signal)).rejects.toThrow(
      'server "health" has already run; create a new one',
    );
  });

  it.each<[object, string]>([
    [{ port: 65_536 }, "options.port must be a number from 0 to 65535, got 65536"],
    [{ port: 0.5 }, "options.port must be a whole number of at least 0, got 0.5"],
    [{ name: "" }, "options.name must be a non-empty string"],
    [{ ready: { disk: true } }, 'options.ready["disk"] must be a function, got true'],
    [{ live: 1 }, "options.live must be an object, got 1"],
    [{ metrics: "up 1" }, "options.metrics must be a function"],
  ])("refuses %o", (options, message) => expect(() => new HealthServer(options)).toThrow(message));
});

describe("connections of a HealthServer", () => {
  const closed = (socket: ReturnType<typeof connect>): Promise<void> =>
    new Promise((resolve) => socket.on("close", () => resolve()));

  it.each([
    ["that sends nothing", ""],
    ["that sends half a head", "GET /readyz HTTP/1.1\r\nhost:"],
  ])("one %s is closed", { timeout: 60_000 }, (_, text) =>
    serving({}, async (_url, server) => {
      const socket = connect(server.port, HOST);
      socket.on("error", () => {});
      socket.resume().write(text);
      await closed(socket); // after 5 s; a machine that stands still takes longer
    }),
  );

  it("are at most 100", () =>
    serving({}, async (_url, server) => {
      const sockets = Array.from({ length: 100 }, () => connect(server.port, HOST));
      await Promise.all(sockets.map((one) => new Promise((resolve) => one.on("connect", resolve))));
      const ended: Socket[] = [];
      for (const socket of sockets) socket.resume().on("end", () => ended.push(socket));
      const over = connect(server.port, HOST);
      over.on("error", () => {});
      await closed(over.resume());
      expect(ended).toEqual([]); // it is closed at once, and not as they are, after 5 s
      for (const socket of sockets) socket.destroy();
    }));

  it.each([undefined, 7, null, {}])("500 for metrics that return %s", (text) =>
    serving({ metrics: () => text as never }, async (url) => {
      const response = await fetch(`${url}/metrics`);
      expect([response.status, await response.text()]).toEqual([500, "metrics failed"]);
    }),
  );
});
