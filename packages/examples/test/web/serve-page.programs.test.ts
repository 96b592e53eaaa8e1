import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { FakeClock } from "@holdfast/clock/testing";
import { describe, expect, it } from "vitest";
import { textReply } from "../../src/web/reply.ts";
import { type PageOptions, type Route, servePage } from "../../src/web/serve-page.ts";

// Sockets are real here, and time is not. The rest of the server is tested with the supervisor.

const status = {
  snapshot: () => ({ at: 0 }),
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};

async function world() {
  const done: string[] = [];
  const act: Route = (url) => {
    done.push(`${url.pathname}${url.search}`);
    return textReply(200, "Done.");
  };
  const fail: Route = () => Promise.reject(new Error("no disk"));
  const options: PageOptions = {
    clock: new FakeClock(),
    port: 0,
    status,
    page: "dns-sync/web/page",
    actions: new Map<string, Route>([
      ["/act", act],
      ["/fail", fail],
    ]),
  };
  const server = await servePage(options);
  return { done, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

async function ask(url: string, { body, ...question }: Question) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(url, { agent: false, ...question }, resolve);
    request.on("error", reject).end(body);
  });
  const { statusCode, headers } = response;
  return { status: statusCode, allow: headers["allow"], text: await text(response) };
}

describe("an action of a page", () => {
  it("is done for the page itself, which gets a message", async () => {
    await using server = await world();
    const { origin } = new URL(server.url);
    const question = { method: "POST", path: "/act?name=a%20b", headers: { origin } };
    expect(await ask(server.url, question)).toMatchObject({ status: 200, text: "Done.\n" });
    expect(server.done).toEqual(["/act?name=a%20b"]);
  });

  it.each([
    { from: "another page on this machine", headers: { origin: "http://127.0.0.1:1" } },
    { from: "a foreign page", headers: { origin: "https://example.com" } },
    { from: "a page without an origin", headers: { origin: "null" } },
    { from: "a program that names none", headers: {} },
  ])("is refused to $from", async ({ headers }) => {
    await using server = await world();
    const answer = await ask(server.url, {
      method: "POST",
      path: "/act",
      headers: headers as Record<string, string>,
    });
    expect(answer).toMatchObject({
      status: 403,
      text: "Only the page itself may send this request.\n",
    });
    expect(server.done).toEqual([]);
  });

  it("is refused under a foreign name, whose origin is the same", async () => {
    await using server = await world();
    const headers = { host: "example.com", origin: "http://example.com" };
    const answer = await ask(server.url, { method: "POST", path: "/act", headers });
    expect(answer.status).toBe(421);
    expect(server.done).toEqual([]);
  });

  it.each([
    { method: "GET", path: "/act", allow: "POST" },
    { method: "HEAD", path: "/act?name=a", allow: "POST" },
    { method: "OPTIONS", path: "/act", allow: "POST" },
    { method: "POST", path: "/state", allow: "GET, HEAD" },
    { method: "POST", path: "/", allow: "GET, HEAD" },
    { method: "DELETE", path: "/", allow: "GET, HEAD" },
  ])("does not respond to $method $path", async ({ method, path, allow }) => {
    await using server = await world();
    const { origin } = new URL(server.url);
    const answer = await ask(server.url, { method, path, headers: { origin } });
    expect(answer).toMatchObject({ status: 405, allow });
    expect(server.done).toEqual([]);
  });

  it.each([
    "/./act",
    "/x/../act",
    "/%2e/act",
    "/act#x",
    "//act",
    "/\\act",
    "/act\t",
    "act",
    "http://127.0.0.1/act",
  ])("is not done by another spelling of its path: %j", async (path) => {
    await using server = await world();
    const { origin, port } = new URL(server.url);
    for (const method of ["GET", "POST"]) {
      const socket = connect(Number(port), "127.0.0.1");
      socket.end(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: ${origin}\r\n\r\n`);
      const head = await text(socket);
      expect(head).toMatch(/^HTTP\/1.1 4\d\d /);
    }
    expect(server.done).toEqual([]);
  });

  it("has one request in flight on a connection", async () => {
    await using server = await world();
    const { origin, port } = new URL(server.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const head = `POST /act HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\norigin: ${origin}\r\n\r\n`;
    socket.resume().write(head.repeat(4_000));
    await closed;
    expect(server.done.length).toBeLessThanOrEqual(1);
  });

  it("does not depend on a body, however long", async () => {
    await using server = await world();
    const { origin } = new URL(server.url);
    const body = "x".repeat(2_000_000);
    const answer = await ask(server.url, {
      method: "POST",
      path: "/act",
      headers: { origin },
      body,
    });
    expect(answer.status).toBe(200);
  });

  it("is a 500 when it fails", async () => {
    await using server = await world();
    const { origin } = new URL(server.url);
    const answer = await ask(server.url, { method: "POST", path: "/fail", headers: { origin } });
    expect(answer).toMatchObject({ status: 500, text: "Failed: Error: no disk\n" });
  });
});
