import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer } from "node:http";
import { connect, Server, type Socket } from "node:net";
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
      await expect.poll(() => servers() - before).toBe(more);
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
    [
      "a check that returns a Promise, which would always be true",
      { live: { disk: (async () => true) as never } },
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

  it.each([
    ["127.0.0.1 by default", {}, {}, { host: HOST }],
    ["all addresses in a pod", { KUBERNETES_SERVICE_HOST: "10.0.0.1" }, {}, {}],
    [
      "an address of its own in a pod",
      { KUBERNETES_SERVICE_HOST: "10.0.0.1" },
      { host: HOST },
      { host: HOST },
    ],
  ])("listens on %s", async (_name, env, options, expected) => {
    vi.stubEnv("KUBERNETES_SERVICE_HOST", undefined);
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    using listen = vi.spyOn(Server.prototype, "listen").mockImplementation(function (this: Server) {
      this.emit("error", new Error("stop"));
      return this;
    });
    const server = new HealthServer({ port: 0, ...options });
    vi.unstubAllEnvs();
    await expect(server.run(new AbortController().signal)).rejects.toThrow("stop");
    expect(listen.mock.calls[0]?.[0]).toEqual({ port: 0, ...expected });
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
    await serving({ metrics: () => new Promise(() => {}) }, async (_url, server) => {
      for (const text of ["", "GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"]) {
        const socket = connect(server.port, HOST);
        await new Promise<void>((resolve) => socket.once("connect", resolve));
        socket.write(text);
        socket.on("error", () => {});
        closed.push(new Promise((resolve) => socket.once("close", resolve)));
      }
    });
    // Without an end they would stay open, and this test would wait forever.
    await Promise.all(closed);
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
  ])("one %s is closed", (_, text) =>
    serving({}, async (_url, server) => {
      const socket = connect(server.port, HOST);
      socket.on("error", () => {});
      socket.resume().write(text);
      await closed(socket); // after 5 s; a machine that stands still takes longer
    }),
  );

  const opened = async (port: number, count: number): Promise<Socket[]> => {
    const sockets = Array.from({ length: count }, () => connect(port, HOST));
    await Promise.all(sockets.map((one) => new Promise((resolve) => one.on("connect", resolve))));
    for (const socket of sockets) socket.on("error", () => {});
    return sockets;
  };
  const got = (socket: Socket, text: string): Promise<void> =>
    new Promise((resolve) => {
      let all = "";
      socket.on("data", (chunk) => {
        all += chunk;
        if (all.includes(text)) resolve();
      });
    });
  /** Counts the requests that servers of this process read. */
  const readRequests = () => {
    let count = 0;
    const add = (): void => {
      count += 1;
    };
    subscribe("http.server.request.start", add);
    return {
      reach: (least: number) => expect.poll(() => count).toBeGreaterThanOrEqual(least),
      [Symbol.dispose]: () => void unsubscribe("http.server.request.start", add),
    };
  };
  const GET = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

  it("are at most 100: a further one replaces the one that has been idle longest", () =>
    serving({}, async (url, server) => {
      const sockets = await opened(server.port, 100);
      const ends: number[] = [];
      for (const [index, socket] of sockets.entries())
        socket.resume().on("close", () => ends.push(index));
      // The first has just been answered, so the second has been idle longest.
      const answered = got(sockets[0] as Socket, "ok");
      sockets[0]?.write(GET("/readyz"));
      await answered;
      const second = closed(sockets[1] as Socket);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      await second;
      expect(ends).toEqual([1]); // at once, and not as they all are, after 5 s
      for (const socket of sockets) socket.destroy();
    }));

  it("give way to a probe, oldest first, when each waits for a response", () => {
    const metrics = (): Promise<string> => new Promise(() => {});
    return serving({ metrics }, async (url, server) => {
      using read = readRequests();
      const sockets = await opened(server.port, 100);
      for (const socket of sockets) socket.resume().write(GET("/metrics"));
      await read.reach(100);
      const first = closed(sockets[0] as Socket);
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      await first;
      expect(sockets.slice(1).filter((socket) => socket.destroyed)).toEqual([]);
      for (const socket of sockets) socket.destroy();
    });
  });

  it("keep a new one that has not asked yet, while the others wait for a response and more come", () =>
    serving({ metrics: () => new Promise<string>(() => {}) }, async (_url, server) => {
      using read = readRequests();
      const sockets = await opened(server.port, 100);
      for (const socket of sockets) socket.resume().write(GET("/metrics"));
      await read.reach(100);
      const [probe] = (await opened(server.port, 1)) as [Socket];
      const more = await opened(server.port, 50);
      const answer = got(probe, "200 OK");
      probe.write(GET("/healthz"));
      await answer;
      for (const socket of [...sockets, ...more, probe]) socket.destroy();
    }));

  it.each([150, 800])("answer a probe that comes first in a burst of %i connections", (count) =>
    serving({}, async (_url, server) => {
      const probe = connect(server.port, HOST);
      const answer = got(probe, "200 OK");
      probe.on("error", () => {}).write(GET("/healthz"));
      const sockets = Array.from({ length: count }, () => connect(server.port, HOST));
      for (const socket of sockets) socket.resume().on("error", () => {});
      await answer;
      const open = (): number => sockets.filter((socket) => !socket.destroyed).length;
      await expect.poll(open).toBeLessThanOrEqual(100);
      for (const socket of [...sockets, probe]) socket.destroy();
    }),
  );

  it.each(["/metrics", "/healthz", "/readyz"])(
    "one that pipelines requests of %s is closed and costs one run",
    (path) => {
      let runs = 0;
      const count = (): boolean => {
        runs += 1;
        return true;
      };
      const metrics = (): string => `up ${count()}`;
      return serving({ metrics, live: { count }, ready: { count } }, async (url, server) => {
        const socket = connect(server.port, HOST);
        socket.on("error", () => {});
        const end = closed(socket);
        socket.write(GET(path).repeat(4_000));
        await end; // it has read nothing
        expect((await fetch(`${url}/other`)).status).toBe(404);
        expect(runs).toBeLessThanOrEqual(1);
      });
    },
  );

  it("have as many responses as requests, one after the other", () =>
    serving({ ready: { ["x".repeat(200_000)]: () => true } }, async (_url, server) => {
      const socket = connect(server.port, HOST);
      let closes = 0;
      socket.on("close", () => (closes += 1));
      for (let index = 0; index < 300; index++) {
        const response = got(socket, index % 2 === 0 ? `${"x".repeat(200_000)} ok` : "not found");
        socket.write(GET(index % 2 === 0 ? "/readyz" : "/other"));
        await response;
        socket.removeAllListeners("data");
      }
      expect(closes).toBe(0);
      socket.destroy();
    }));

  it("share one run of metrics while it lasts, and the next starts a second after it did", async () => {
    const start = realClock.monotonic();
    const runs: ((text: string) => void)[] = [];
    const metrics = () => new Promise<string>((resolve) => runs.push(resolve));
    await serving({ metrics }, async (url) => {
      using read = readRequests();
      const first = Array.from({ length: 50 }, () => fetch(`${url}/metrics`));
      await read.reach(50);
      await expect.poll(() => runs).toHaveLength(1);
      runs[0]?.("up 1\n");
      const texts = await Promise.all((await Promise.all(first)).map((one) => one.text()));
      expect(new Set(texts)).toEqual(new Set(["up 1\n"]));
      expect(runs).toHaveLength(1);
      const next = fetch(`${url}/metrics`);
      await expect.poll(() => runs).toHaveLength(2);
      expect(realClock.monotonic() - start).toBeGreaterThanOrEqual(1_000);
      runs[1]?.("up 2\n");
      expect(await (await next).text()).toBe("up 2\n");
    });
  });

  it("that wait for the next run of metrics are closed by a stop, which leaves no timer", async () => {
    using sleep = vi.spyOn(realClock, "sleep");
    let ends: unknown;
    await serving({ metrics: () => "up 1\n" }, async (url) => {
      await (await fetch(`${url}/metrics`)).text();
      using read = readRequests();
      ends = expect(fetch(`${url}/metrics`)).rejects.toThrow("fetch failed");
      await read.reach(1);
    });
    await ends;
    // A sleep that was aborted has no timer.
    await expect(sleep.mock.results[0]?.value).rejects.toThrow("aborted");
  });

  it("do not wait for a run of metrics that began 30 s before", async () => {
    const runs: ((text: string) => void)[] = [];
    const metrics = () => new Promise<string>((resolve) => runs.push(resolve));
    // Whole, so that 30 s after it are 30,000 to the last bit.
    const start = Math.ceil(realClock.monotonic());
    using monotonic = vi.spyOn(realClock, "monotonic").mockReturnValue(start);
    await serving({ metrics }, async (url) => {
      using read = readRequests();
      const first = fetch(`${url}/metrics`);
      await expect.poll(() => runs).toHaveLength(1);
      monotonic.mockReturnValue(start + 29_999);
      const second = fetch(`${url}/metrics`);
      await read.reach(2);
      expect(await (await fetch(`${url}/healthz`)).text()).toBe("ok");
      expect(runs).toHaveLength(1);
      monotonic.mockReturnValue(start + 30_000);
      // The connection of the probe may have been closed as idle on a machine that stands still.
      const third = fetch(`${url}/metrics`).catch(() => fetch(`${url}/metrics`));
      await expect.poll(() => runs).toHaveLength(2);
      runs[0]?.("up 1\n");
      expect(await (await first).text()).toBe("up 1\n");
      expect(await (await second).text()).toBe("up 1\n");
      // The end of the first run is not the end of the second.
      const fourth = fetch(`${url}/metrics`).catch(() => fetch(`${url}/metrics`));
      await read.reach(5);
      runs[1]?.("up 2\n");
      expect(await (await third).text()).toBe("up 2\n");
      expect(await (await fourth).text()).toBe("up 2\n");
      expect(runs).toHaveLength(2);
    });
  });

  it.each([undefined, 7, null, {}])("500 for metrics that return %s", (text) =>
    serving({ metrics: () => text as never }, async (url) => {
      const response = await fetch(`${url}/metrics`);
      expect([response.status, await response.text()]).toEqual([500, "metrics failed"]);
    }),
  );
});
