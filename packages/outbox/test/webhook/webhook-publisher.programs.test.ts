import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { inspect } from "node:util";
import { realClock } from "@holdfast/clock";
import { FakeClock } from "@holdfast/clock/testing";
import { isRetryAfterError, isTerminalError } from "@holdfast/controller";
import {
  isWebhookError,
  WebhookPublisher,
  type WebhookPublisherOptions,
} from "@holdfast/outbox/webhook";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { isPrivateAddress, publicLookup } from "../../src/webhook/public-address.ts";
import { type Delivery, testPublisher } from "../publisher.contract.ts";
import { sampleMessage } from "../sample-message.ts";

interface Received extends Delivery {
  readonly method: string | undefined;
  readonly path: string | undefined;
}

type Respond = (response: ServerResponse, request: IncomingMessage) => void;

const { signal } = new AbortController();
const ok: Respond = (response) => response.writeHead(204).end();

let respond: Respond;
let received: Received[];
let url: string;

// A server for each test: a request that an aborted test has left behind reaches no other.
let server: Server;

beforeEach(async () => {
  respond = ok;
  received = [];
  server = createServer(async (request, response) => {
    const { method, url: path, headers } = request;
    const id = headers["idempotency-key"];
    received.push({
      method,
      path,
      id,
      payload: method === "POST" ? await json(request) : undefined,
    });
    respond(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function origin(): string {
  return new URL(url).origin;
}

function responding(status: number, headers: Record<string, string> = {}): Respond {
  return (response) => response.writeHead(status, headers).end();
}

testPublisher("WebhookPublisher", async () => {
  const publisher = new WebhookPublisher({
    url: ({ topic }) => `${url}/${topic}`,
    allow: () => true,
  });
  received = [];
  respond = (response, request) =>
    response.writeHead(request.url === "/hooks/refused" ? 500 : 204).end();
  return {
    publisher,
    topic: "accepted",
    refused: "refused",
    deliveries: async () =>
      received
        .filter(({ path }) => path !== "/hooks/refused")
        .map(({ id, payload }) => ({ id, payload })),
    hang: () => {
      respond = () => undefined;
    },
    [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose](),
  };
});

describe("WebhookPublisher", () => {
  it("posts the payload, with the id as Idempotency-Key", async () => {
    await using publisher = new WebhookPublisher({ url, headers: { authorization: "Bearer x" } });
    let authorization: string | undefined;
    respond = (response, request) => {
      ({ authorization } = request.headers);
      ok(response, request);
    };
    const message = sampleMessage();
    await publisher.publish(message, signal);
    const { id, payload } = message;
    expect(received).toEqual([{ method: "POST", path: "/hooks", id, payload }]);
    expect(authorization).toBe("Bearer x");
  });

  it("replaces its own Content-Type by yours, and your Idempotency-Key by the id", async () => {
    const headers = { "CONTENT-TYPE": "application/vnd.shop+json", "idempotency-KEY": "mine" };
    const publisher = new WebhookPublisher({ url, headers });
    let raw: readonly string[] = [];
    respond = (response, request) => {
      raw = request.rawHeaders.map((text) => text.toLowerCase());
      ok(response, request);
    };
    const message = sampleMessage();
    await publisher.publish(message, signal);
    const valuesOf = (name: string): readonly string[] =>
      raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === name);
    expect(valuesOf("content-type")).toEqual(["application/vnd.shop+json"]);
    expect(valuesOf("idempotency-key")).toEqual([message.id]);
  });

  it("sends application/json by default, and reads your headers once", async () => {
    const headers: Record<string, string> = { "X-Token": "one" };
    const publisher = new WebhookPublisher({ url, headers });
    headers["X-Token"] = "two";
    headers["Content-Type"] = "text/plain";
    let sent: IncomingMessage["headers"] = {};
    respond = (response, request) => {
      sent = request.headers;
      ok(response, request);
    };
    await publisher.publish(sampleMessage(), signal);
    expect(sent).toMatchObject({ "content-type": "application/json", "x-token": "one" });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ "": "s3cret" }, 'RangeError: options.headers[""] is not a valid header name'],
    [{ "X Token": "s3cret" }, 'RangeError: options.headers["X…"] is not a valid header name'],
    [{ "A: s3cret": "1" }, 'RangeError: options.headers["A…"] is not a valid header name'],
    [{ "Tökén-s3cret": "1" }, 'RangeError: options.headers["T…"] is not a valid header name'],
    [
      { [`${"x".repeat(70)} `]: "s3cret" },
      `RangeError: options.headers["${"x".repeat(64)}…"] is not a valid header name`,
    ],
    [{ "X-Token": 53 }, 'TypeError: options.headers["X-Token"] must be a string'],
    [{ "X-Token": undefined }, 'TypeError: options.headers["X-Token"] must be a string'],
    [{ "X-Token": ["s3cret"] }, 'TypeError: options.headers["X-Token"] must be a string'],
    ...[
      "s3cret\n",
      "s3cret\r\nX-Other: 1",
      "s3cret\0",
      "s3cret\u0001",
      "s3cret\u007f",
      "s3cret€",
    ].map((value): [Record<string, unknown>, string] => [
      { "X-Token": value },
      'RangeError: options.headers["X-Token"] must contain only Latin-1 characters without control characters',
    ]),
    [
      { "x-token": "s3cret", "X-Token": "s3cret" },
      'RangeError: options.headers["X-Token"] must occur once, got it in upper and lower case',
    ],
    ...["Connection", "content-length", "Expect", "Keep-Alive", "Transfer-Encoding", "upgrade"].map(
      (name): [Record<string, unknown>, string] => [
        { [name]: "1" },
        `RangeError: options.headers["${name}"] must not be set: the HTTP client sets it`,
      ],
    ),
  ])("rejects the headers %j without repeating their values", (headers, error) => {
    const wrong = headers as Record<string, string>;
    let refusal: unknown;
    try {
      new WebhookPublisher({ url, headers: wrong });
    } catch (caught) {
      refusal = caught;
    }
    expect(String(refusal)).toBe(error);
    expect(String((refusal as Error).stack)).not.toContain("s3cret");
  });

  it.each([
    ["an instance of Headers", new Headers({ "X-Token": "1" })],
    ["a list of pairs", [["X-Token", "1"]]],
    ["a Map", new Map([["X-Token", "1"]])],
  ])("refuses %s", (_, wrong) => {
    const headers = wrong as unknown as Record<string, string>;
    const error = new TypeError(
      "options.headers must be a plain object of header names and values",
    );
    expect(() => new WebhookPublisher({ url, headers })).toThrow(error);
  });

  it("repeats nothing of a response that may repeat the request", async () => {
    respond = (response, request) => {
      const { authorization = "" } = request.headers;
      response.writeHead(500, authorization, { "x-echo": authorization }).end(authorization);
    };
    const publisher = new WebhookPublisher({ url, headers: { authorization: "Bearer s3cret" } });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toMatchObject({ message: `POST ${origin()}: 500 Internal Server Error` });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("s3cret");
  });

  it("keeps no bytes of a response that is no HTTP", async () => {
    respond = ({ socket }) => void socket?.end("HTTP/1.1 200 OK\r\nbad header s3cret\r\n\r\n");
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toSatisfy(isWebhookError);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/s3cret|rawPacket/);
  });

  it.each([200, 201, 202, 204, 299])("treats %i as a confirmation", async (status) => {
    respond = responding(status);
    await new WebhookPublisher({ url }).publish(sampleMessage(), signal);
  });

  it.each([408, 425, 429, 500, 502, 503, 504, 599])("retries after %i", async (status) => {
    respond = responding(status);
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toSatisfy(isWebhookError);
    expect(error).toMatchObject({ status, message: expect.stringContaining(`${status}`) });
  });

  it.each([400, 401, 403, 404, 409, 410, 413, 422])("never retries after %i", async (status) => {
    respond = responding(status);
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toSatisfy(isTerminalError);
    expect(error).toMatchObject({ cause: { status } });
  });

  it.each<[number, string, number]>([
    [429, "120", 120_000],
    [503, "0", 0],
    [429, "Sat, 21 Nov 2026 00:01:30 GMT", 90_000],
    [503, "Fri, 20 Nov 2026 00:00:00 GMT", 0],
  ])("after %i with Retry-After %s, retries in %i ms", async (status, header, after) => {
    const clock = new FakeClock({ now: Date.UTC(2026, 10, 21, 5) }); // wrong by five hours
    respond = responding(status, { "retry-after": header, date: "Sat, 21 Nov 2026 00:00:00 GMT" });
    const publisher = new WebhookPublisher({ url, clock });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toSatisfy(isRetryAfterError);
    expect(error).toMatchObject({ after, cause: { status } });
  });

  it.each<[number, string]>([
    [429, "soon"],
    [500, "120"],
  ])("ignores Retry-After of %i with %s", async (status, header) => {
    respond = responding(status, { "retry-after": header });
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toSatisfy(isWebhookError);
  });

  it.each([301, 302, 303, 307, 308])("does not follow a %i", async (status) => {
    respond = responding(status, { location: "/elsewhere" });
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toMatchObject({ name: "WebhookError", status });
    expect(received).toHaveLength(1);
  });

  it("reports an unknown outcome after a reset connection", async () => {
    respond = (_, { socket }) => socket.resetAndDestroy();
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), signal));
    expect(error).toMatchObject({
      name: "WebhookError",
      status: undefined,
      message: expect.stringMatching(/^POST http:.*: .*(ECONNRESET|closed)/),
    });
  });

  it("reports an unknown outcome after a lost reply, although the message arrived", async () => {
    respond = (response) => response.destroy();
    const message = sampleMessage();
    const error = await errorOf(new WebhookPublisher({ url }).publish(message, signal));
    expect(error).toMatchObject({ name: "WebhookError", status: undefined });
    expect(received.map(({ id }) => id)).toEqual([message.id]);
  });

  it("reports a refused connection", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const publisher = new WebhookPublisher({ url: `http://127.0.0.1:${port}` });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toMatchObject({ message: expect.stringContaining("ECONNREFUSED") });
  });

  it("speaks TLS to an https URL, and sends nothing to a receiver that does not", async () => {
    const publisher = new WebhookPublisher({ url: url.replace("http:", "https:") });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toMatchObject({
      name: "WebhookError",
      status: undefined,
      message: expect.stringMatching(/^POST https:.*SSL/),
    });
    expect(received).toEqual([]);
  });

  it("ends with the signal at once while the receiver hangs, and leaves no listener", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const closed = new Promise((resolve) => {
      respond = (response) => {
        response.once("close", resolve);
        stop.abort(reason);
      };
    });
    const error = await errorOf(
      new WebhookPublisher({ url }).publish(sampleMessage(), stop.signal),
    );
    expect(error).toBe(reason);
    expect(abortListeners(stop.signal)).toBe(0);
    await closed; // the request does not go on behind our back
  });

  it("leaves no listener after a response", async () => {
    const stop = new AbortController();
    const publisher = new WebhookPublisher({ url });
    await publisher.publish(sampleMessage(), stop.signal);
    respond = responding(500);
    await errorOf(publisher.publish(sampleMessage(), stop.signal));
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("does not send for an aborted signal", async () => {
    const reason = new Error("stop");
    const aborted = AbortSignal.abort(reason);
    const error = await errorOf(new WebhookPublisher({ url }).publish(sampleMessage(), aborted));
    expect(error).toBe(reason);
    expect(received).toEqual([]);
  });

  it("does not wait for the body of a response", async () => {
    respond = (response) => response.writeHead(200).write("and then");
    await new WebhookPublisher({ url }).publish(sampleMessage(), signal);
  });

  it("posts each message to the URL that a function returns", async () => {
    const publisher = new WebhookPublisher({
      url: ({ topic }) => `${url}/${encodeURIComponent(topic)}?a=1`,
      allow: () => true,
    });
    await publisher.publish(sampleMessage({ topic: "../paid" }), signal);
    expect(received.map(({ path }) => path)).toEqual(["/hooks/..%2Fpaid?a=1"]);
  });

  it.each([
    [
      "cannot be found",
      () => {
        throw new Error("no such customer");
      },
    ],
    ["is no URL", () => "hooks"],
    ["is no text", () => undefined as unknown as string],
    ["has a password", () => "http://shop:secret@receiver/"],
  ])("refuses a message for good whose URL %s", async (_, of) => {
    const publisher = new WebhookPublisher({ url: of });
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(error).toSatisfy(isTerminalError);
    expect(error).toMatchObject({ message: "message has no URL" });
    expect(String((error as Error).cause)).not.toContain("secret");
    expect(received).toEqual([]);
  });

  it("sends the headers of a message; yours replace them", async () => {
    const publisher = new WebhookPublisher({ url, headers: { "x-tenant": "yours" } });
    let sent: IncomingMessage["headers"] = {};
    respond = (response, request) => {
      sent = request.headers;
      ok(response, request);
    };
    const headers = { trace: "00-\u00fc", "X-Tenant": "its", "idempotency-key": "its" };
    const message = sampleMessage({ headers });
    await publisher.publish(message, signal);
    expect(sent).toMatchObject({ trace: "00-\u00fc", "x-tenant": "yours" });
    expect(sent["idempotency-key"]).toBe(message.id);
  });

  it("keeps the query of its URL, and repeats it in no error", async () => {
    const publisher = new WebhookPublisher({ url: `${url}?key=secret` });
    respond = responding(500);
    const error = await errorOf(publisher.publish(sampleMessage(), signal));
    expect(received.map(({ path }) => path)).toEqual(["/hooks?key=secret"]);
    expect(error).toMatchObject({ message: `POST ${origin()}: 500 Internal Server Error` });
  });

  it("prints the origin of a URL, or what you say, because a path may be a secret", async () => {
    respond = responding(500);
    const said = async (options: Partial<WebhookPublisherOptions>) =>
      (
        (await errorOf(
          new WebhookPublisher({ url: `${url}/T0/s3cret`, ...options }).publish(
            sampleMessage(),
            signal,
          ),
        )) as Error
      ).message;
    expect(await said({})).toBe(`POST ${origin()}: 500 Internal Server Error`);
    expect(await said({ describe: () => "the shop" })).toBe(
      "POST the shop: 500 Internal Server Error",
    );
  });

  it("asks a function for headers with the message, its body, and its URL", async () => {
    let sent: IncomingMessage["headers"] = {};
    respond = (response, request) => {
      sent = request.headers;
      ok(response, request);
    };
    const message = sampleMessage({ payload: { a: 1 } });
    const publisher = new WebhookPublisher({
      url,
      headers: async ({ id }, body, request) => ({
        "X-Signature": `${id} ${body} ${request.url.href} ${request.signal.aborted}`,
      }),
    });
    await publisher.publish(message, signal);
    expect(sent["x-signature"]).toBe(`${message.id} {"a":1} ${url} false`);
  });

  it("fails the attempt if headers cannot be had, and sends nothing", async () => {
    const reason = new Error("no token");
    const headers = () => Promise.reject(reason);
    const error = await errorOf(
      new WebhookPublisher({ url, headers }).publish(sampleMessage(), signal),
    );
    expect(error).toBe(reason);
    const wrong = new WebhookPublisher({ url, headers: () => ({ "X Y": "s3cret" }) });
    expect(String(await errorOf(wrong.publish(sampleMessage(), signal)))).toBe(
      'RangeError: headers(message)["X…"] is not a valid header name',
    );
    expect(received).toEqual([]);
  });

  it("ends with the signal while headers are pending", async () => {
    const stop = new AbortController();
    const headers = () => {
      stop.abort("enough");
      return new Promise<never>(() => undefined);
    };
    const publisher = new WebhookPublisher({ url, headers });
    expect(await errorOf(publisher.publish(sampleMessage(), stop.signal))).toBe("enough");
    expect(abortListeners(stop.signal)).toBe(0);
  });

  it("refuses an object of headers for every host that a message names", () => {
    const headers = { authorization: "Bearer s3cret" };
    expect(() => new WebhookPublisher({ url: () => url, headers })).toThrow(
      new TypeError(
        "options.headers must be a function if options.url is one: an object would go to every host that a message names",
      ),
    );
  });

  it.each([
    ...["Authorization", "cookie", "HOST", "Proxy-Authorization"],
    // What frames a request: with another length, the rest of the body is the next request of the connection.
    ...[
      "Content-Length",
      "Transfer-Encoding",
      "Connection",
      "Proxy-Connection",
      "Keep-Alive",
      "TE",
      "Trailer",
    ],
    ...["Upgrade", "Expect", "HTTP2-Settings"],
  ])("refuses a message for good that sets %s", async (name) => {
    const message = sampleMessage({ headers: { [name]: "s3cret" } });
    const error = await errorOf(new WebhookPublisher({ url }).publish(message, signal));
    expect(error).toSatisfy(isTerminalError);
    expect(String(error)).toBe(
      `TerminalError: message must not set the header ${name.toLowerCase()}`,
    );
    expect(received).toEqual([]);
  });

  it("lets you say which statuses are final", async () => {
    const isTerminal = (status: number) => status === 410;
    const publisher = new WebhookPublisher({ url, isTerminal });
    const statusOf = async (status: number) => {
      respond = responding(status);
      return isTerminalError(await errorOf(publisher.publish(sampleMessage(), signal)));
    };
    expect([await statusOf(401), await statusOf(404), await statusOf(410)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("uses a connection for many messages in turn, also after a body of 300 kB that comes late", async () => {
    const sockets = new Set<unknown>();
    const read = new EventTarget();
    respond = (response, { socket }) => {
      sockets.add(socket);
      response.writeHead(200).flushHeaders();
      response.once("close", () => read.dispatchEvent(new Event("read")));
      setImmediate(() => response.end(Buffer.alloc(300_000)));
    };
    await using publisher = new WebhookPublisher({ url });
    for (let turn = 0; turn < 10; turn++) {
      const closed = once(read, "read");
      await publisher.publish(sampleMessage(), signal);
      await closed;
      await realClock.sleep(20); // the client reads the last bytes
    }
    // A busy machine may take longer than that to read, now and then.
    expect(sockets.size).toBeLessThan(10);
  });

  it("cuts the connection of a body without end", async () => {
    const closed = new Promise((resolve) => {
      respond = (response) => {
        response.writeHead(200);
        response.once("close", resolve);
        const more = () => void response.write(Buffer.alloc(65_536));
        response.on("drain", more);
        for (let part = 0; part < 40; part++) more();
      };
    });
    await new WebhookPublisher({ url }).publish(sampleMessage(), signal);
    await closed;
  });

  it.each([
    "",
    "hooks",
    "ftp://receiver/",
    "http://shop:secret@receiver/",
    "http://secret@receiver/",
  ])("refuses the URL %j, and does not repeat what may be a secret", (wrong) => {
    expect(() => new WebhookPublisher({ url: wrong })).toThrow(
      new RangeError("options.url must be an http or https URL without a user and a password"),
    );
  });
});

describe("a URL that a message names", () => {
  const port = () => new URL(url).port;
  const publishTo = async (target: string, allow?: (url: URL) => boolean): Promise<unknown> =>
    await errorOf(
      new WebhookPublisher({ url: () => target, allow }).publish(sampleMessage(), signal),
    );

  it.each([
    ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.", "0.0.0.0"],
    ...["localhost", "LOCALHOST", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"],
    ...[
      "10.0.0.1",
      "172.16.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "255.255.255.255",
    ],
    ...["[fe80::1]", "[fd00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2002:7f00:1::]", "[2001::1]"],
  ])("must not lead to %s", async (host) => {
    const error = await publishTo(`http://${host}:${port()}/s3cret`);
    expect(error).toSatisfy(isTerminalError);
    expect((error as Error).message).toMatch(
      /^POST http:\/\/[^/]+: its address is not public; options.allow can permit it$/,
    );
    expect(received).toEqual([]);
  });

  it.each(["8.8.8.8", "172.32.0.1", "192.169.0.1", "[2606:4700::1111]", "[2001:4860:4860::8888]"])(
    "may lead to %s",
    (host) => expect(isPrivateAddress(new URL(`http://${host}`).hostname)).toBe(false),
  );

  // No server of names is asked: a name has at most 255 characters, and an address is its own.
  it("is tried again if its name cannot be resolved", async () => {
    const error = await publishTo(`http://${"a".repeat(300)}/s3cret`);
    expect(error).toMatchObject({
      name: "WebhookError",
      message: expect.stringMatching(/^POST http:\/\/a{300}: getaddrinfo E\w+ a{300}$/),
    });
    expect(error).not.toSatisfy(isTerminalError);
  });

  it("leads to a public address, given in the form that Node has asked for", async () => {
    const resolved = (options: { all?: boolean }) =>
      new Promise((resolve) => publicLookup("8.8.8.8", options, (...result) => resolve(result)));
    expect(await resolved({ all: true })).toEqual([null, [{ address: "8.8.8.8", family: 4 }]]);
    expect(await resolved({})).toEqual([null, "8.8.8.8", 4]);
  });

  it("may lead to a private address with permission, given for each URL", async () => {
    const allow = ({ pathname }: URL) => pathname === "/hooks/inner";
    const publisher = new WebhookPublisher({ url: ({ topic }) => `${url}/${topic}`, allow });
    const publish = (topic: string) => publisher.publish(sampleMessage({ topic }), signal);
    await publish("inner");
    expect(await errorOf(publish("outer"))).toSatisfy(isTerminalError);
    // Nor on the connection that the first one has left.
    const named = `http://localhost:${port()}/hooks/outer`;
    expect(await publishTo(named, allow)).toSatisfy(isTerminalError);
    expect(received.map(({ path }) => path)).toEqual(["/hooks/inner"]);
  });
});
