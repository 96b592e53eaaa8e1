import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { builtIn, HealthServer } from "@holdfast/kubernetes";
import { FakeApi } from "@holdfast/kubernetes/testing";
import { describe, expect, it, vi } from "vitest";
import { serve } from "../../cli/src/run/web/serve.ts";
import { ScriptedStatus } from "../../cli/test/run/scripted-status.ts";
import { CommandWorld } from "../../outbox/test/bin/fake-io.ts";
import { serveProvider } from "../src/dns-sync/provider/serve-provider.ts";
import { servePage } from "../src/dns-sync/serve-page.ts";

/** A listener of the repository. */
interface Listener {
  /** Its row in docs/security.md. */
  readonly row: string;
  /** Connections at most. */
  readonly most: number;
  /** A path that is answered. */
  readonly reply: string;
  /** A path whose answer does not end. */
  readonly hang: string;
  readonly open: () => Promise<{ readonly url: string } & AsyncDisposable>;
}

const never = (): Promise<never> => new Promise(() => undefined);

/** Serves until it is disposed. */
async function running(
  run: (signal: AbortSignal) => Promise<unknown>,
  url: () => Promise<string>,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const stop = new AbortController();
  const end = run(stop.signal);
  return {
    url: await url(),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await end;
    },
  };
}

const LISTENERS: readonly Listener[] = [
  {
    row: "`HealthServer`, `runOperator`",
    most: 100,
    reply: "/healthz",
    hang: "/metrics",
    open: async () => {
      const server = new HealthServer({ port: 0, host: "127.0.0.1", metrics: never });
      const url = async (): Promise<string> => {
        await server.ready();
        return `http://127.0.0.1:${server.port}/`;
      };
      return await running((signal) => server.run(signal), url);
    },
  },
  {
    row: "`FakeApi.listen`, for tests",
    most: 1_000,
    reply: "/version",
    hang: "/api/v1/pods?watch=true",
    open: () => new FakeApi({ clock: realClock, resources: [builtIn("v1", "Pod")] }).listen(),
  },
  {
    row: "the page of `holdfast run`",
    most: 32,
    reply: "/state",
    hang: "/events",
    open: () => {
      const clock = new FakeClock();
      return serve({ clock, port: 0, status: new ScriptedStatus(clock) });
    },
  },
  {
    row: "the page of an outbox",
    most: 32,
    reply: "/state",
    hang: "/view",
    open: async () => {
      let print: (text: string) => void;
      const printed = new Promise<string>((resolve) => {
        print = resolve;
      });
      const run = (signal: AbortSignal) =>
        new CommandWorld().run(["page"], { signal, print: (text) => print(text) });
      return await running(run, async () => new URL((await printed).trim()).origin);
    },
  },
  {
    row: "the page of `npm run dns-sync`",
    most: 32,
    reply: "/state",
    hang: "/events",
    open: () => {
      const page = new URL(import.meta.url);
      return servePage({ port: 0, page, state: () => ({}), actions: {} });
    },
  },
  {
    row: "the DNS provider of `npm run dns-sync`",
    most: 100,
    reply: "/",
    hang: "/hang",
    open: () => {
      const response = { status: 200, type: "text/plain", body: "" };
      const handle = ({ path }: { readonly path: string }) =>
        path === "/hang" ? never() : response;
      return serveProvider({ handle } as never);
    },
  },
];

/** Connections to a listener that close when it closes them, or with their use. */
class Peers implements Disposable {
  readonly #sockets: Socket[] = [];

  /** Opens so many, ten at a time, and writes to each. */
  async open(url: string, count: number, text: string): Promise<void> {
    const { port } = new URL(url);
    for (let left = count; left > 0; left -= 10)
      await Promise.all(
        Array.from({ length: Math.min(10, left) }, async () => {
          const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
          this.#sockets.push(socket);
          await new Promise((resolve) => socket.once("connect", resolve));
          socket.resume().write(text);
        }),
      );
  }

  get left(): number {
    return this.#sockets.filter(({ closed }) => !closed).length;
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const head = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;
const patient = { timeout: 60_000 };

describe.each(LISTENERS)("$row", ({ most, reply, hang, open, row }) => {
  it(`keeps ${most} connections at most, and hears a new one beside more`, async () => {
    await using server = await open();
    using peers = new Peers();
    await peers.open(server.url, Math.max(600, most + 100), head(hang));
    expect((await fetch(new URL(reply, server.url))).status).toBe(200);
    await vi.waitFor(() => expect(peers.left).toBeLessThanOrEqual(most), patient);
  });

  it("has a row with these bounds in docs/security.md", () => {
    const guide = readFileSync(new URL("../../../docs/security.md", import.meta.url), "utf8");
    const line = guide.split("\n").find((one) => one.startsWith(`| ${row} |`));
    expect(line).toContain(`${most.toLocaleString("en-US")} connections`);
  });
});

it("each closes connections that are silent, slow with their head, or send two requests at once", async () => {
  await Promise.all(
    LISTENERS.map(async ({ row, hang, open }) => {
      await using server = await open();
      using peers = new Peers();
      for (const text of ["", "GET / HTTP/1.1\r\nhost:", head(hang).repeat(2)])
        await peers.open(server.url, 2, text);
      await vi.waitFor(() => expect([row, peers.left]).toEqual([row, 0]), patient);
    }),
  );
});

it.each(LISTENERS.filter(({ most }) => most === 32).slice(0, 2))(
  "$row has 16 streams at most: a further one takes the place of the oldest",
  async ({ open, hang }) => {
    await using server = await open();
    using peers = new Peers();
    await peers.open(server.url, 24, head(hang));
    await vi.waitFor(() => expect(peers.left).toBe(16), patient);
  },
);

it("every server is one of these, or one that a demonstration needs in a process of its own", () => {
  const root = new URL("../../../", import.meta.url);
  const files = readdirSync(new URL("packages/", root), { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => /^[^/]+\/(src|demo|bin)\/.*\.m?[jt]s$/.test(file));
  const textOf = (file: string): string => readFileSync(new URL(`packages/${file}`, root), "utf8");
  const having = (...patterns: RegExp[]): string[] =>
    sources.filter((file) => patterns.every((one) => one.test(textOf(file)))).sort();
  const modules = /from "(node:)?(https?|http2|net|tls|dgram)"/;
  const words = /\bcreate(\w*Server|Socket)\(|\bnew (\w+\.)?Server\(/;
  expect(having(modules, words)).toEqual([
    "cli/demo/web.mjs", // what `npm start` supervises
    "cli/src/run/machine/ports.ts", // finds a free port, and closes it at once
    "controller/src/internal/bounded-server.ts",
    "examples/src/grpc-connect/demo/peer.mjs", // a server that fails in every way
  ]);
  expect(having(/\bboundedServer\(/)).toEqual([
    "controller/src/internal/bounded-server.ts",
    "controller/src/internal/serve-live-page.ts",
    "examples/src/dns-sync/provider/serve-provider.ts",
    "examples/src/dns-sync/serve-page.ts",
    "examples/src/outbox/main.ts", // the receiver of `npm run outbox`
    "kubernetes/src/operator/health-server.ts",
    "kubernetes/src/testing/http-front.ts",
  ]);
  expect(having(/\bserveLivePage[<(]/)).toEqual([
    "cli/src/run/web/serve.ts",
    "controller/src/internal/serve-live-page.ts",
    "outbox/src/bin/page.ts",
  ]);
});
