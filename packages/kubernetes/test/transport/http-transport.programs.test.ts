import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import type { Logger } from "@holdfast/controller";
import {
  ApiError,
  atUrl,
  builtIn,
  ConnectionError,
  findError,
  fromKubeConfig,
  fromKubectl,
  isConnectionError,
  KubeClient,
  type KubeRequest,
  type KubeTransport,
} from "@holdfast/kubernetes";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { readBody } from "../../src/transport/read-body.ts";
import { certificates } from "../certificates/certificates.ts";
import { expectNoSecret, quietLogger, SECRET, safeErrorOf, TOKEN } from "../secrets.ts";
import { answer, testServer } from "./test-server.ts";

const GET: KubeRequest = { method: "GET", path: "/api/v1/pods?limit=1", headers: {} };
const never = new AbortController().signal;
const ConfigMap = builtIn("v1", "ConfigMap");
const ann = { namespace: "default", name: "ann" };

async function textOf(transport: KubeTransport, request = GET, signal = never): Promise<string> {
  const { body } = await transport.send(request, signal);
  return (await readBody(body, 1_000_000, "test")).toString();
}

describe("a request", () => {
  it("has its method, its path behind that of the server, its headers and its body", async () => {
    await using server = await testServer((_, response) => answer(response, 201, { ok: true }));
    const transport = atUrl(`${server.url}/k8s/c-1/`, { token: () => TOKEN });
    const sent = { method: "DELETE", path: "/api/v1/x?a=b", headers: { accept: "y" }, body: "ü" };
    const { status, headers, body } = await transport.send(sent, never);
    expect({ status, type: headers["content-type"] }).toEqual({
      status: 201,
      type: "application/json",
    });
    expect((await readBody(body, 100, "test")).toString()).toBe('{"ok":true}');
    expect(server.requests).toMatchObject([
      {
        method: "DELETE",
        path: "/k8s/c-1/api/v1/x?a=b",
        body: "ü",
        headers: {
          accept: "y",
          authorization: `Bearer ${TOKEN}`,
          "content-length": "2",
          "user-agent": "holdfast-kubernetes",
        },
      },
    ]);
    expectNoSecret(transport);
  });

  it("reuses the last connection, and closeIdle() closes it", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const transport = atUrl(server.url);
    for (let i = 0; i < 3; i++) await textOf(transport);
    expect(server.connections()).toBe(1);
    await transport.closeIdle?.();
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(await textOf(transport)).toBe("{}");
    await transport.closeIdle?.();
  });

  it("joins the values of a header that arrives more than once", async () => {
    await using server = await testServer((_, response) => {
      response.setHeader("set-cookie", ["a=1", "b=2"]);
      answer(response, 200, {});
    });
    const transport = atUrl(server.url);
    await transport.closeIdle?.(); // before the first request there is nothing to close
    const { headers, body } = await transport.send(GET, never);
    await readBody(body, 100, "test");
    expect(headers["set-cookie"]).toBe("a=1, b=2");
    await transport.closeIdle?.();
  });

  it("names a header that cannot be sent", async () => {
    const bad = { ...GET, headers: { accept: "a\nb" } };
    const error = await safeErrorOf(textOf(atUrl("http://127.0.0.1:1"), bad));
    expect([isConnectionError(error), error.message.includes("ERR_INVALID_CHAR")]).toEqual([
      true,
      true,
    ]);
  });

  it("names a certificate of an authority that is none", async () => {
    const transport = atUrl("https://127.0.0.1:1", { ca: "no certificate" });
    const error = await safeErrorOf(textOf(transport));
    expect(isConnectionError(error)).toBe(true);
  });

  it.each<[unknown, string]>([
    [undefined, "(undefined)"],
    ["text", "(string)"],
    [new TypeError("x"), "(TypeError)"],
    [Object.assign(new Error("x"), { code: "EPIPE" }), "(EPIPE)"],
  ])("that fails with %s has its code or its type in the error", (cause, text) => {
    expect(new ConnectionError(GET, "https://a", cause).message).toContain(text);
  });

  it("rejects at once when the server switches protocols", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
        ),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const error = await safeErrorOf(atUrl(`http://127.0.0.1:${port}`).send(GET, never));
      expect(isConnectionError(error)).toBe(true);
      expect(String((error as Error).cause)).toContain("the server switched protocols");
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  describe.each([
    ["http", undefined],
    ["https", certificates.server],
  ])("with beforeSend over %s", (_, tls) => {
    const connect = async (beforeSend: () => void) => {
      const server = await testServer((_request, response) => answer(response, 201, {}), tls);
      const transport = atUrl(server.url, { ca: certificates.ca });
      const post = () =>
        textOf(transport, { method: "POST", path: "/", headers: {}, body: "{}", beforeSend });
      return { server, post };
    };

    it("asks when the connection is open, new or reused, and then sends", async () => {
      const open: number[] = [];
      const { server, post } = await connect(() => open.push(server.connections()));
      await using _server = server;
      for (let i = 0; i < 2; i++) await post();
      expect([open.length, open[1], server.requests.length]).toEqual([2, 1, 2]);
      expect(server.connections()).toBe(1);
    });

    it("rejects with the error that it throws, and sends nothing", async () => {
      const lost = new Error("the lease is lost");
      let isHeld = true;
      const { server, post } = await connect(() => {
        if (!isHeld) throw lost;
      });
      await using _server = server;
      isHeld = false;
      await expect(post()).rejects.toBe(lost);
      isHeld = true;
      await post();
      isHeld = false;
      await expect(post()).rejects.toBe(lost);
      expect(server.requests.length).toBe(1);
      await expect.poll(() => server.sockets.size).toBe(0);
    });
  });

  it("does not follow a redirect", async () => {
    await using other = await testServer((_, response) => answer(response, 200, {}));
    await using server = await testServer((_, response) => {
      response.writeHead(302, { location: other.url }).end("elsewhere");
    });
    const { status } = await atUrl(server.url, { token: () => TOKEN }).send(GET, never);
    expect(status).toBe(302);
    expect(other.requests).toEqual([]);
  });

  it("requests gzip and unpacks it, except on loopback", async () => {
    await using server = await testServer(({ headers }, response) => {
      const isWanted = headers["accept-encoding"] === "gzip";
      response.writeHead(200, isWanted ? { "content-encoding": "gzip" } : {});
      response.end(isWanted ? gzipSync("packed") : "plain");
    });
    const request = { ...GET, headers: { "accept-encoding": "gzip" } };
    expect(await textOf(atUrl(server.url), request)).toBe("plain");
    expect(await textOf(atUrl(server.url.replace("127.0.0.1", "0.0.0.0")), request)).toBe("packed");
  });

  it("fails on invalid gzip", async () => {
    await using server = await testServer((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(SECRET);
    });
    const error = await safeErrorOf(textOf(atUrl(server.url)));
    expect(error.message).toBe(
      `GET /api/v1/pods: no response from ${server.url} (Z_DATA_ERROR): the response is not valid gzip: check for a proxy in between`,
    );
  });
});

describe("an abort", () => {
  const reason = { why: "test" };

  it("before the request rejects with the reason itself, and sends nothing", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    await expect(atUrl(server.url).send(GET, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(server.connections()).toBe(0);
  });

  it("before the head rejects with the reason itself, and closes the connection", async () => {
    const stop = new AbortController();
    await using server = await testServer(() => stop.abort(reason));
    await expect(atUrl(server.url).send(GET, stop.signal)).rejects.toBe(reason);
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("within the body rejects with the reason itself, and closes the connection", async () => {
    const stop = new AbortController();
    await using server = await testServer((_, response) => {
      response.writeHead(200).write("one");
    });
    const { body } = await atUrl(server.url).send(GET, stop.signal);
    const chunks: string[] = [];
    const read = async () => {
      for await (const chunk of body) {
        chunks.push(Buffer.from(chunk).toString());
        stop.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(chunks).toEqual(["one"]);
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("within a compressed body rejects with the reason itself, without another chunk", async () => {
    const stop = new AbortController();
    await using server = await testServer((_, response) => {
      response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(1_000_000)));
    });
    const transport = atUrl(server.url);
    const { body } = await transport.send(GET, stop.signal);
    let chunks = 0;
    const read = async () => {
      for await (const chunk of body) {
        chunks += Math.min(chunk.length, 1);
        stop.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(chunks).toBe(1);
    await transport.closeIdle?.();
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("while the token is requested rejects with the reason itself", async () => {
    const stop = new AbortController();
    const token = () => {
      stop.abort(reason);
      return new Promise<string>(() => {});
    };
    await expect(atUrl("http://127.0.0.1:1", { token }).send(GET, stop.signal)).rejects.toBe(
      reason,
    );
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("leaves no listener after a body was read", async () => {
    const stop = new AbortController();
    await using server = await testServer((_, response) => answer(response, 200, {}));
    await textOf(atUrl(server.url), GET, stop.signal);
    await expect.poll(() => abortListeners(stop.signal)).toBe(0);
  });
});

describe("a body", () => {
  it("abandoned early closes its connection", async () => {
    const stop = new AbortController();
    await using server = await testServer((_, response) => {
      response.writeHead(200).write("one");
    });
    const { body } = await atUrl(server.url).send(GET, stop.signal);
    for await (const chunk of body) {
      expect(Buffer.from(chunk).toString()).toBe("one");
      break;
    }
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("that is cut off rejects with an error that names the server", async () => {
    await using server = await testServer((_, response) => {
      response.writeHead(200).write("one", () => response.destroy());
    });
    const { body } = await atUrl(server.url).send(GET, never);
    const error = await safeErrorOf(readBody(body, 100, "test"));
    expect(isConnectionError(error)).toBe(true);
    expect(error.message).toBe(
      `GET /api/v1/pods: no response from ${server.url} (ECONNRESET): the connection broke; it may be restarting`,
    );
  });
});

describe("a connection that the server has closed while it was idle", () => {
  /** Answers the first request of a connection, and closes it at the second. */
  function closingServer() {
    const known = new WeakSet<object>();
    return testServer((_, response) => {
      const { socket } = response;
      if (socket === null || known.has(socket)) return response.destroy();
      known.add(socket);
      answer(response, 200, {});
      return undefined;
    });
  }

  it("does not fail a GET", async () => {
    await using server = await closingServer();
    const transport = atUrl(server.url);
    for (let i = 0; i < 3; i++) expect(await textOf(transport)).toBe("{}");
    expect(server.requests).toHaveLength(5);
    await transport.closeIdle?.();
  });

  it("fails a POST, which may have been executed", async () => {
    await using server = await closingServer();
    const transport = atUrl(server.url);
    await textOf(transport);
    const error = await safeErrorOf(textOf(transport, { ...GET, method: "POST", body: "{}" }));
    expect(error.message).toContain("(ECONNRESET)");
    expect(server.requests).toHaveLength(2);
  });

  it("fails a GET on a new connection at once", async () => {
    await using server = await testServer((_, response) => response.destroy());
    await safeErrorOf(textOf(atUrl(server.url)));
    expect(server.requests).toHaveLength(1);
  });
});

describe("a 401", () => {
  it("requests the token again, and repeats the request once", async () => {
    const tokens = ["old", TOKEN];
    await using server = await testServer(({ headers }, response) =>
      answer(response, headers.authorization === `Bearer ${TOKEN}` ? 200 : 401, {}),
    );
    const transport = atUrl(server.url, { token: () => tokens.shift() ?? "none" });
    expect((await transport.send(GET, never)).status).toBe(200);
    expect((await transport.send(GET, never)).status).toBe(200);
    expect(server.requests).toHaveLength(3);
    expect(tokens).toEqual([]);
  });

  it("that comes again, with another token, is the response", async () => {
    await using server = await testServer((_, response) => answer(response, 401, {}));
    let tokens = 0;
    const token = vi.fn(() => `${TOKEN}${tokens++}`);
    const { status } = await atUrl(server.url, { token }).send(GET, never);
    expect(status).toBe(401);
    expect(server.requests).toHaveLength(2);
    expect(token).toHaveBeenCalledTimes(2);
  });

  it("is the response if the token has not changed after it was asked for again", async () => {
    await using server = await testServer((_, response) => answer(response, 401, {}));
    const token = vi.fn(() => TOKEN);
    const { status } = await atUrl(server.url, { token }).send(GET, never);
    expect(status).toBe(401);
    expect(server.requests).toHaveLength(1);
    expect(token).toHaveBeenCalledTimes(2);
  });

  it("without a token is the response", async () => {
    await using server = await testServer((_, response) => answer(response, 401, {}));
    expect((await atUrl(server.url).send(GET, never)).status).toBe(401);
    expect(server.requests).toHaveLength(1);
  });

  it("to many concurrent requests requests the token once", async () => {
    let right = "first";
    await using server = await testServer(({ headers }, response) =>
      answer(response, headers.authorization === `Bearer ${right}` ? 200 : 401, {}),
    );
    const token = vi.fn(() => Promise.resolve(right));
    const transport = atUrl(server.url, { token });
    const all = () => Promise.all(Array.from({ length: 5 }, () => transport.send(GET, never)));
    expect((await all()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(token).toHaveBeenCalledTimes(1);
    right = "second";
    expect((await all()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(token).toHaveBeenCalledTimes(2);
  });
});

describe("without a response, the error names the server and the next step", () => {
  const fails = (url: string, ca?: string) =>
    safeErrorOf(textOf(atUrl(url, { ca, token: () => TOKEN })));

  it("when no server listens", async () => {
    const error = await fails("http://127.0.0.1:1");
    expect(error.message).toBe(
      "GET /api/v1/pods: no response from http://127.0.0.1:1 (ECONNREFUSED): check that the API server is running, and its port",
    );
  });

  it("when its name is unknown", async () => {
    const error = await fails("http://nowhere.invalid");
    expect(error.message).toMatch(
      /^GET \/api\/v1\/pods: no response from http:\/\/nowhere\.invalid \((ENOTFOUND|EAI_AGAIN)\): its name was not found: check the name and DNS$/,
    );
  });

  it.each([
    ["nobody known has signed", "server", undefined, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
    [
      "another authority has signed",
      "server",
      certificates.otherCa,
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ],
  ] as const)("when its certificate is one that %s", async (_, name, ca, code) => {
    await using server = await testServer((__, response) => response.end(), certificates[name]);
    const error = await fails(server.url, ca);
    expect(error.message).toBe(
      `GET /api/v1/pods: no response from ${server.url} (${code}): its certificate is not signed by the given certificate authority: check the CA`,
    );
    expect(server.requests).toEqual([]);
  });

  it("when its certificate is for another name", async () => {
    await using server = await testServer((_, response) => response.end(), certificates.elsewhere);
    const error = await fails(server.url, certificates.ca);
    expect(error.message).toBe(
      `GET /api/v1/pods: no response from ${server.url} (ERR_TLS_CERT_ALTNAME_INVALID): its certificate is for other names: check the address, or the server name for TLS`,
    );
  });

  it("when a variable of the environment turns verification off", async () => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    using _ = vi.spyOn(process, "emitWarning").mockReturnValue(); // Node's, about the variable
    await using server = await testServer((__, response) => response.end(), certificates.server);
    expect((await fails(server.url)).message).toContain("is not signed by");
    vi.unstubAllEnvs();
  });

  it("when it speaks http, not https", async () => {
    await using server = await testServer((_, response) => response.end());
    const error = await fails(server.url.replace("http", "https"));
    expect(error.message).toMatch(
      /: TLS failed: check the address and whether it is https or http$/,
    );
  });

  it("when it does not speak HTTP, without its bytes", async () => {
    const server = createTcpServer((socket) => socket.resume().end(`${SECRET}\r\n\r\n`));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const error = await fails(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(error.message).toMatch(/\(HPE_INVALID_CONSTANT\): the response is not HTTP: check/);
    expect(error.cause).not.toHaveProperty("rawPacket");
    await new Promise((resolve) => server.close(resolve));
  });

  it("when the token is not a header, without its value", async () => {
    const token = () => `${TOKEN}\n`;
    const error = await safeErrorOf(textOf(atUrl("http://127.0.0.1:1", { token })));
    expect(error.message).toBe(
      'the credentials for the header "authorization" must be of printable ASCII characters: check the token',
    );
  });

  it.each([
    ["is empty", "", "an empty one"],
    ["is none", undefined, "undefined"],
  ])(
    "when the token %s, because a server may take the client for anonymous",
    async (_, given, found) => {
      const token = () => given as string;
      const error = await safeErrorOf(textOf(atUrl("http://127.0.0.1:1", { token })));
      expect(error.message).toBe(`the token must be text, got ${found}`);
    },
  );

  it("when the token function throws, and calls it again at the next request", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    let isBroken = true;
    const token = () => {
      if (isBroken) throw new Error("no vault");
      return TOKEN;
    };
    const transport = atUrl(server.url, { token });
    await expect(textOf(transport)).rejects.toThrow("no vault");
    isBroken = false;
    expect(await textOf(transport)).toBe("{}");
  });
});

describe("a transport", () => {
  it("over TLS reaches a server that its CA has signed", async () => {
    await using server = await testServer(
      (_, response) => answer(response, 200, {}),
      certificates.server,
    );
    expect(await textOf(atUrl(server.url, { ca: certificates.ca }))).toBe("{}");
  });

  it("shows its address and no token when it is printed", async () => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const transport = atUrl(server.url, { token: () => TOKEN });
    await textOf(transport);
    expectNoSecret(transport);
    expect(inspect(transport)).toContain(server.url);
  });
});

describe("over http, credentials are sent to this machine only", () => {
  const ways: Readonly<Record<string, (url: string, logger: Logger) => KubeTransport>> = {
    atUrl: (url, logger) =>
      atUrl(url, { token: () => TOKEN, impersonate: { user: "ann" }, logger }),
    fromKubeConfig: (url, logger) => {
      const applyToHTTPSOptions = async (options: object): Promise<void> =>
        void Object.assign(options, {
          headers: { Authorization: `Bearer ${TOKEN}`, "Impersonate-User": "ann" },
        });
      const config = { getCurrentCluster: () => ({ server: url }), applyToHTTPSOptions };
      return fromKubeConfig(config, { logger });
    },
    fromKubectl: (url, logger) => {
      const user = { token: TOKEN, as: "ann" };
      const view = {
        clusters: [{ cluster: { server: url } }],
        users: [{ user }],
        contexts: [{ context: {} }],
      };
      const folder = mkdtempSync(join(tmpdir(), "kubectl-"));
      const kubectl = join(folder, "kubectl");
      writeFileSync(kubectl, `#!/bin/sh\necho '${JSON.stringify(view)}'\n`, { mode: 0o755 });
      onTestFinished(() => rmSync(folder, { recursive: true }));
      return fromKubectl({ kubectl, logger });
    },
  };

  it.each(Object.entries(ways))("by %s", async (_name, way) => {
    await using server = await testServer((_, response) => answer(response, 200, {}));
    const { port } = new URL(server.url);
    // To this machine as well, but the name does not say so.
    for (const [host, token, warnings] of [
      ["127.0.0.1", `Bearer ${TOKEN}`, 0],
      ["localhost", `Bearer ${TOKEN}`, 0],
      ["0.0.0.0", undefined, 1],
    ] as const) {
      const logger = quietLogger();
      const transport = way(`http://${host}:${port}`, logger);
      for (let sent = 0; sent < 2; sent++)
        for await (const _chunk of (await transport.send(GET, never)).body);
      const headers = server.requests
        .splice(0)
        .map((request) => [request.headers.authorization, request.headers["impersonate-user"]]);
      // Without the second one, a proxy would take the request as its own.
      expect(headers).toEqual([
        [token, "ann"],
        [token, "ann"],
      ]);
      expect(logger.lines).toHaveLength(warnings);
      for (const line of logger.lines) expect(line).toContain("not sent over http");
      await transport.closeIdle?.();
    }
  });
});

describe("connections", () => {
  it("are at most 100, watches and leases apart; a request that gives up costs no other", async () => {
    const held: (() => void)[] = [];
    await using server = await testServer((_, response) => {
      held.push(() => answer(response, 200, {}));
    });
    const transport = atUrl(server.url);
    const stop = new AbortController();
    const gone = Array.from({ length: 150 }, () => transport.send(GET, stop.signal).catch(String));
    await expect.poll(() => held).toHaveLength(100);
    const watch = { ...GET, path: "/api/v1/pods?watch=true" };
    const lease = { ...GET, path: "/apis/coordination.k8s.io/v1/namespaces/a/leases/b" };
    const unlimited = [watch, lease].map((request) => transport.send(request, never));
    await expect.poll(() => held).toHaveLength(102);
    const served = Array.from({ length: 150 }, () => textOf(transport));
    stop.abort("given up");
    expect(new Set(await Promise.all(gone))).toEqual(new Set(["given up"]));
    await expect.poll(() => held).toHaveLength(202);
    expect(server.sockets.size).toBeLessThanOrEqual(102);
    const answering = setInterval(() => {
      for (const respond of held.splice(0)) respond();
    }, 1);
    expect(await Promise.all(served)).toEqual(served.map(() => "{}"));
    clearInterval(answering);
    for (const response of await Promise.all(unlimited)) for await (const _ of response.body);
    await transport.closeIdle?.();
  });

  it("of a proxy in the environment: a warning says once that it is not used", () => {
    vi.stubEnv("HTTPS_PROXY", "http://user:secret@proxy:3128");
    vi.stubEnv("NO_PROXY", ".svc,10.0.0.0/8,api.local");
    const warned = (url: string): readonly string[] => {
      const logger = quietLogger();
      atUrl(url, { logger });
      return logger.lines;
    };
    const direct = ["https://127.0.0.1", "https://a.svc", "https://10.1.2.3", "https://api.local"];
    expect(direct.flatMap(warned)).toEqual([]);
    const [line = "", ...more] = warned("https://api.example.org");
    expect(line).toContain("HTTPS_PROXY is ignored");
    expect([more, line.includes("proxy:3128")]).toEqual([[], false]);
    for (const none of ["", " , ", "10.1.2.3", "10.0.0.0/33", "10.0.0.0/x", "fd00::/8", "a.b"]) {
      vi.stubEnv("NO_PROXY", none);
      for (const url of ["https://10.1.2.4", "https://api.example.org."])
        expect(warned(url)).toHaveLength(1);
    }
    for (const [entry, url] of [
      ["api.example.org:443", "https://api.example.org"],
      ["api.example.org:6443", "https://api.example.org:6443"],
      ["example.org:443", "https://api.example.org"],
      ["*.example.org", "https://api.example.org"],
      ["API.example.org", "https://api.example.org"],
      ["10.1.2.4:443", "https://10.1.2.4"],
      ["10.1.2.4", "https://10.1.2.4:6443"],
      ["[fd00::1]:443", "https://[fd00::1]"],
      ["[fd00::1]", "https://[fd00::1]:6443"],
      ["fd00::1", "https://[fd00:0::1]"],
      ["fd00::/8", "https://[fd00::1]"],
      ["api.example.org:", "https://api.example.org:6443"],
      ["b\u00fccher.example", "https://api.b\u00fccher.example"],
      ["*.B\u00dcCHER.example:443", "https://api.b\u00fccher.example"],
      ["10.1.2.4", "https://[::ffff:10.1.2.4]"],
      ["10.0.0.0/8", "https://[::ffff:10.1.2.4]"],
      ["a.b", "https://[::ffff:127.0.0.1]"],
      ["*", "https://api.example.org"],
    ] as const) {
      vi.stubEnv("NO_PROXY", entry);
      expect(warned(url), entry).toEqual([]);
    }
    vi.stubEnv("NO_PROXY", "api.example.org:6443,[fd00::1]:1,*:443,::/0");
    for (const url of ["https://api.example.org", "https://10.1.2.4"])
      expect(warned(url)).toHaveLength(1);
    vi.stubEnv("NO_PROXY", "[fd00::1]:1");
    expect(warned("https://[fd00::1]")).toHaveLength(1);
    vi.stubEnv("no_proxy", "10.0.0.0/8");
    vi.stubEnv("NO_PROXY", "a.b");
    expect(warned("https://10.1.2.4")).toHaveLength(1); // NO_PROXY is first.
    vi.stubEnv("NO_PROXY", "");
    expect(warned("https://10.1.2.4")).toEqual([]);
    vi.unstubAllEnvs();
  });
});

describe("a failed request whose body stalls", () => {
  const stall = (status: number, response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "application/json" });
    response.write('{"kind":"Status",');
  };

  it("ends with its status, and its connection is closed", async () => {
    await using server = await testServer((_, response) => stall(404, response));
    const client = new KubeClient({ transport: atUrl(server.url), logger: quietLogger() });
    const error = await client.get(ConfigMap, ann).catch((reason: unknown) => reason);
    expect(findError(error, ApiError)?.status).toBe(404);
    expect(server.requests).toHaveLength(1);
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it("is sent again with new credentials after a 401", async () => {
    await using server = await testServer(({ headers }, response) => {
      if (headers.authorization === "Bearer old") stall(401, response);
      else answer(response, 200, { metadata: { name: "ann" } });
    });
    const tokens = ["old", "new"];
    const transport = atUrl(server.url, { token: () => tokens.shift() ?? "new" });
    const client = new KubeClient({ transport, logger: quietLogger() });
    expect((await client.get(ConfigMap, ann)).metadata.name).toBe("ann");
    expect(server.requests).toHaveLength(2);
  });
});
