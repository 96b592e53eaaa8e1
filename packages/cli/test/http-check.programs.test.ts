import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { deferred } from "@holdfast/kit";
import { isTerminalError } from "@holdfast/wait";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { tempFolder } from "../../../test/temp-folder.ts";
import { type HttpOptions, httpCheck } from "../src/http-check.ts";
import { Holdfast, holdfast } from "./holdfast.ts";
import { listen } from "./listen.ts";

const patient = ["wait", "--interval", "20ms"];

/** A key and a certificate for localhost that nobody else trusts. */
const TLS = (() => {
  const folder = tempFolder();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync(
    "openssl",
    [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split(" "),
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
      ...["-keyout", key, "-out", cert],
    ],
    { stdio: "ignore" },
  );
  return { file: cert, key: readFileSync(key), cert: readFileSync(cert) };
})();

const OPTIONS: HttpOptions = {
  method: "GET",
  status: [[200, 399]],
  follow: false,
  headers: {},
  body: undefined,
  insecure: false,
  cacert: TLS.cert,
  proxy: false,
  not: false,
};

/** Checks a URL once. */
async function check(
  url: string,
  options: Partial<HttpOptions> = {},
  signal = new AbortController().signal,
): Promise<void> {
  await httpCheck(new URL(url), { ...OPTIONS, ...options })(signal);
}

/** The head of a request. */
interface Head {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
}

/** A server, and the heads of all requests that it got. */
async function site(secure: boolean, listener: RequestListener, host?: string) {
  const heads: Head[] = [];
  const handle: RequestListener = (request, response) => {
    heads.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    listener(request, response);
  };
  const server: Server = secure ? createHttpsServer(TLS, handle) : createHttpServer(handle);
  const port = await listen(server, host);
  return { heads, port, scheme: secure ? "https" : "http" };
}

const ok: RequestListener = (_, response) => void response.end("hello");
const to =
  (location: string, status = 302): RequestListener =>
  (_, response) =>
    void response.writeHead(status, { location }).end();

const HEADERS = {
  Authorization: "Bearer s3cret",
  cookie: "s3cret",
  "X-Api-Key": "s3cret",
  Host: "s3cret.test",
  "Proxy-Authorization": "s3cret",
};

test.each([false, true])(
  "a status is the reason though its body stalls, follow: %s",
  async (follow) => {
    const { port } = await site(false, (_, response) => {
      response.writeHead(503);
      response.write("hel");
    });
    const url = `http://127.0.0.1:${port}/`;
    await expect(check(url, { follow, body: "hello" })).rejects.toThrow("HTTP 503");
  },
);

test("a text that has come decides, though its body goes on", async () => {
  const { port } = await site(false, (_, response) => {
    response.write("it says: hel");
    setImmediate(() => response.write("lo, and"));
  });
  await check(`http://127.0.0.1:${port}/`, { body: "hello" });
});

describe("a redirect", () => {
  const hops: [name: string, from: boolean, to: boolean, host: string][] = [
    ["another port", false, false, "127.0.0.1"],
    ["another name of the same port", false, false, "localhost"],
    ["https", false, true, "localhost"],
    ["http", true, false, "localhost"],
    ["another port with https", true, true, "localhost"],
  ];

  test.each(hops)("to %s goes without headers and credentials", async (_, from, secure, host) => {
    const other = await site(secure, ok);
    const first = await site(from, to(`${other.scheme}://x:y@${host}:${other.port}/a`));
    const name = from ? "localhost" : "127.0.0.1";
    const url = `${first.scheme}://u:p@${name}:${first.port}/`;
    await check(url, { follow: true, headers: HEADERS });
    await check(url, { follow: true });
    expect(other.heads).toEqual(
      [0, 1].map(() => ({
        line: "GET /a",
        headers: { host: `${host}:${other.port}`, connection: "close" },
      })),
    );
    expect(first.heads.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer s3cret",
      `Basic ${Buffer.from("u:p").toString("base64")}`,
    ]);
  });

  test("is followed though its body stalls", async () => {
    const { port } = await site(false, (request, response) => {
      if (request.url === "/") response.writeHead(302, { location: "/b" }).write("hel");
      else ok(request, response);
    });
    await check(`http://127.0.0.1:${port}/`, { follow: true, body: "hello" });
  });

  test("within its origin keeps them, also behind another origin", async () => {
    const other = await site(false, (_, response) =>
      to(`http://127.0.0.1:${first.port}/c`)(_, response),
    );
    const first = await site(false, (request, response) => {
      if (request.url === "/") to("/b")(request, response);
      else if (request.url === "/b") to(`//127.0.0.1:${other.port}/`)(request, response);
      else ok(request, response);
    });
    await check(`http://u:p@127.0.0.1:${first.port}/`, { follow: true, headers: { a: "b" } });
    const authorization = `Basic ${Buffer.from("u:p").toString("base64")}`;
    expect(first.heads).toEqual(
      ["/", "/b", "/c"].map((path) => ({
        line: `GET ${path}`,
        headers: { host: `127.0.0.1:${first.port}`, a: "b", authorization, connection: "close" },
      })),
    );
    expect(other.heads.map(({ headers }) => headers)).toEqual([
      { host: `127.0.0.1:${other.port}`, connection: "close" },
    ]);
  });

  test.each(["ftp://127.0.0.1/", "file:///etc/passwd", "http://", "http://[x/", "data:,x"])(
    "to %s is none",
    async (location) => {
      const { port } = await site(false, to(location));
      const checking = check(`http://127.0.0.1:${port}/`, { follow: true });
      await expect(checking).rejects.toThrow("redirects to what is no URL of http");
    },
  );
});

/** A proxy that notes the heads of its requests, and counts its open connections. */
async function proxyServer(
  onConnect: (request: IncomingMessage, socket: Socket) => void = join127,
  secure = false,
) {
  const heads: Head[] = [];
  const note = ({ method, url, headers }: IncomingMessage): void =>
    void heads.push({ line: `${method} ${url}`, headers });
  const handle: RequestListener = (request, response) => {
    note(request);
    response.end("by proxy");
  };
  const server: Server = secure ? createHttpsServer(TLS, handle) : createHttpServer(handle);
  server.on("connect", (request: IncomingMessage, socket: Socket) => {
    note(request);
    socket.on("error", () => undefined);
    onConnect(request, socket);
  });
  const port = await listen(server);
  const url = `${secure ? "https" : "http"}://me:pass%20word@localhost:${port}`;
  const names = { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "" };
  const env = Object.fromEntries(
    Object.entries(names).flatMap(([name, value]) => [
      [name, value],
      [name.toLowerCase(), ""],
    ]),
  );
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const authorization = `Basic ${Buffer.from("me:pass word").toString("base64")}`;
  return { heads, env, authorization };
}

/** Opens a tunnel to the port that a client asks for, on this machine. */
function join127({ url = "" }: IncomingMessage, socket: Socket): void {
  const target = connect(Number(url.split(":").at(-1)), "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    socket.pipe(target).pipe(socket);
  });
  target.on("error", () => socket.destroy());
  socket.on("close", () => target.destroy());
}

describe("a proxy", () => {
  const secure = { headers: { Authorization: "Bearer s3cret" }, proxy: true };

  test("sees of a request by https the name and the port, and its target all else", async () => {
    const target = await site(true, ok);
    const { heads, authorization } = await proxyServer();
    const url = `https://localhost:${target.port}/path?query`;
    await check(url, { ...secure, body: "hello" });
    expect(heads).toEqual([
      {
        line: `CONNECT localhost:${target.port}`,
        headers: {
          host: `localhost:${target.port}`,
          "proxy-authorization": authorization,
          connection: "close",
        },
      },
    ]);
    expect(target.heads).toEqual([
      {
        line: "GET /path?query",
        headers: {
          host: `localhost:${target.port}`,
          authorization: "Bearer s3cret",
          connection: "close",
        },
      },
    ]);
  });

  test("passes on the status of the target, which is judged", async () => {
    const target = await site(true, (_, response) => void response.writeHead(503).end());
    await proxyServer();
    const url = `https://localhost:${target.port}/`;
    await expect(check(url, secure)).rejects.toThrow(/^HTTP 503$/);
    await check(url, { ...secure, status: [[503, 503]] });
  });

  test("does not vouch for the certificate of the target", async () => {
    const target = await site(true, ok);
    const { heads } = await proxyServer();
    const url = `https://localhost:${target.port}/`;
    const once = check(url, { ...secure, cacert: undefined });
    await expect(once).rejects.toThrow("certificate not trusted: DEPTH_ZERO_SELF_SIGNED_CERT");
    for (const host of ["127.0.0.1", "other.test"])
      await expect(check(`https://${host}:${target.port}/`, secure)).rejects.toThrow(
        "certificate not trusted: ERR_TLS_CERT_ALTNAME_INVALID",
      );
    expect(target.heads).toEqual([]);
    await check(url, { ...secure, cacert: undefined, insecure: true });
    const checking = httpCheck(new URL(url), { ...OPTIONS, ...secure, cacert: undefined });
    const errors: unknown[] = [];
    for (let time = 0; time < 3; time++)
      await checking(new AbortController().signal).catch((error: unknown) => errors.push(error));
    expect(errors.map(isTerminalError)).toEqual([false, false, true]);
    expect(heads.every(({ line }) => line.startsWith("CONNECT "))).toBe(true);
  });

  test("gets the whole URL of a request by http, once, and no credentials of a redirect", async () => {
    const { heads, authorization } = await proxyServer();
    await check("http://u:p@localhost:81/path?query", { proxy: true, body: "by proxy" });
    expect(heads).toEqual([
      {
        line: "GET http://localhost:81/path?query",
        headers: {
          host: "localhost:81",
          authorization: `Basic ${Buffer.from("u:p").toString("base64")}`,
          "proxy-authorization": authorization,
          connection: "close",
        },
      },
    ]);
  });

  test("is not asked for what NO_PROXY names, nor are others told its credentials", async () => {
    const target = await site(false, ok);
    const { heads } = await proxyServer();
    vi.stubEnv("NO_PROXY", `localhost:${target.port}`);
    await check(`http://localhost:${target.port}/`, { proxy: true });
    expect([heads, target.heads.length]).toEqual([[], 1]);
    expect(target.heads[0]?.headers).not.toHaveProperty("proxy-authorization");
  });

  test.each([403, 407, 502])("that answers %s is the reason", async (status) => {
    await proxyServer((_, socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    await expect(check("https://localhost:1/", secure)).rejects.toThrow(`proxy: HTTP ${status}`);
  });

  test("that is not there, or no proxy, is the reason", async () => {
    const { port } = await site(false, ok);
    for (const [value, reason] of [
      ["127.0.0.1:1", "proxy: connection refused"],
      [`https://127.0.0.1:${port}`, "proxy: no TLS on this port"],
    ] as const) {
      await proxyServer();
      for (const name of ["HTTP_PROXY", "HTTPS_PROXY"]) vi.stubEnv(name, value);
      for (const url of ["http://localhost:81/", "https://localhost:81/"])
        await expect(check(url, { proxy: true })).rejects.toThrow(reason);
    }
  });

  test("with https has a certificate that is checked, whatever -k allows", async () => {
    const target = await site(true, ok);
    await proxyServer(join127, true);
    for (const url of [`https://localhost:${target.port}/`, "http://localhost:81/"])
      await expect(check(url, { ...secure, insecure: true })).rejects.toThrow(
        "proxy: DEPTH_ZERO_SELF_SIGNED_CERT",
      );
    expect(target.heads).toEqual([]);
  });

  test("with https is used if its certificate is trusted", async () => {
    const target = await site(true, ok);
    const { heads, env } = await proxyServer(join127, true);
    const args = [...patient, "--proxy", "env", "--cacert", TLS.file];
    const trusting = { env: { ...env, NODE_EXTRA_CA_CERTS: TLS.file } };
    const urls = [`https://localhost:${target.port}/`, "http://localhost:81/"];
    expect((await holdfast([...args, ...urls], trusting)).code).toBe(0);
    expect(heads.map(({ line }) => line).toSorted()).toEqual([
      `CONNECT localhost:${target.port}`,
      "GET http://localhost:81/",
    ]);
  });

  /** Where a request through a proxy can hang. */
  const hanging: [name: string, onConnect: (request: IncomingMessage, socket: Socket) => void][] = [
    ["before its answer", () => undefined],
    ["before the TLS", (_, socket) => void socket.write("HTTP/1.1 200 OK\r\n\r\n")],
    ["behind the TLS", join127],
  ];

  test.each(hanging)("that hangs %s is left at once on abort", async (_, onConnect) => {
    const reached = deferred<void>();
    const closed = deferred<void>();
    const target = await site(true, () => reached.resolve());
    await proxyServer((request, socket) => {
      socket.on("end", closed.resolve).on("close", closed.resolve).resume();
      onConnect(request, socket);
      if (onConnect !== join127) reached.resolve();
    });
    const stop = new AbortController();
    const checking = check(`https://localhost:${target.port}/`, secure, stop.signal);
    const outcome = expect(checking).rejects.toThrow("enough");
    await reached.promise;
    stop.abort(new Error("enough"));
    await outcome;
    await closed.promise;
    expect(abortListeners(stop.signal)).toBe(0);
  });

  test("that hangs keeps no process alive", async () => {
    const { env } = await proxyServer(() => undefined);
    const args = ["wait", "--timeout", "300ms", "--proxy", "env", "https://localhost:1/"];
    const run = new Holdfast(args, { env });
    const [code] = (await once(run.child, "exit")) as [number];
    expect(code).toBe(124);
  });

  test("that is no URL of http is an error at once, without its password", async () => {
    const env = { HTTPS_PROXY: "socks5://u:s3cret@localhost:1", https_proxy: "" };
    const { code, lines } = await holdfast(["wait", "--proxy", "env", "https://x/"], { env });
    expect([code, lines.join()]).toEqual([2, expect.stringContaining("HTTPS_PROXY is no proxy")]);
    expect(lines.join()).not.toContain("s3cret");
  });
});
