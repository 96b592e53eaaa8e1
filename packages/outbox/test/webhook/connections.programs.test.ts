import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { realClock } from "@holdfast/clock";
import { Outbox, Relay } from "@holdfast/outbox";
import { MemoryStore } from "@holdfast/outbox/testing";
import { isWebhookError, WebhookPublisher } from "@holdfast/outbox/webhook";
import { describe, expect, it, vi } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { errorOf } from "../../../../test/error-of.ts";
import { tempFolder } from "../../../../test/temp-folder.ts";
import { sampleMessage } from "../sample-message.ts";

const { signal } = new AbortController();

/** A request, and which one of its connection it is. */
interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly turn: number;
}

type Answer = (arrival: Arrival) => void;

const ok: Answer = ({ response }) => void response.writeHead(204).end();

/** A receiver that lives as long as its use. */
class Receiver implements AsyncDisposable {
  /** The connection of each request, by number, and which one of that connection it is. */
  readonly arrivals: string[] = [];
  readonly ids: unknown[] = [];
  readonly sockets: Socket[] = [];
  readonly closed: Promise<unknown>[] = [];
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(server: Server, scheme: string, answer: Answer) {
    this.#server = server;
    this.#scheme = scheme;
    const turns = new Map<Socket, number>();
    server.keepAliveTimeout = 0; // Idle connections are the client's to close.
    // Of TLS the socket below, which can be reset.
    server.on("connection", (socket: Socket) => {
      this.sockets.push(socket);
      this.closed.push(new Promise((resolve) => socket.once("close", resolve)));
      socket.on("error", () => undefined);
    });
    server.on("request", (request, response) => {
      const { remotePort } = request.socket;
      const socket = this.sockets.find((one) => one.remotePort === remotePort) as Socket;
      const turn = (turns.get(socket) ?? 0) + 1;
      turns.set(socket, turn);
      this.arrivals.push(`${this.sockets.indexOf(socket)}:${turn}`);
      this.ids.push(request.headers["idempotency-key"]);
      request.resume().once("end", () => answer({ request, response, socket, turn }));
    });
  }

  static async open(answer: Answer, scheme: "http" | "https" = "http"): Promise<Receiver> {
    const server = scheme === "http" ? createServer() : createTlsServer(certificate());
    const receiver = new Receiver(server, scheme, answer);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return receiver;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hooks`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const folder = tempFolder();

/** A certificate that nobody has signed, and its key. */
function certificate(): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const kind =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost";
  execFileSync("openssl", [...kind.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

/** Sends one message, and waits until its connection is idle again. */
async function warm(publisher: WebhookPublisher): Promise<void> {
  await publisher.publish(sampleMessage(), signal);
  // Node hands a connection back some turns after the response.
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

/** How a receiver ends a connection whose request it has read. */
const BREAKS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["is reset", (socket) => socket.resetAndDestroy()],
  ["is closed", (socket) => socket.destroy()],
  ["is ended", (socket) => socket.end()],
];
const KINDS = (["http", "https"] as const).flatMap((scheme) =>
  BREAKS.map(([how, cut]) => ({ scheme, how, cut })),
);

describe("a kept connection of a WebhookPublisher", () => {
  it.each(KINDS)("that $how over $scheme instead of an answer costs no attempt", async (kind) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const cutSecond: Answer = (arrival) =>
      arrival.turn === 2 ? kind.cut(arrival.socket) : ok(arrival);
    await using receiver = await Receiver.open(cutSecond, kind.scheme);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await warm(publisher);
    const stop = new AbortController();
    const message = sampleMessage();
    await publisher.publish(message, stop.signal);
    expect(receiver.arrivals).toEqual(["0:1", "0:2", "1:1"]);
    // The receiver knows a message that comes twice by its id.
    expect(receiver.ids.slice(1)).toEqual([message.id, message.id]);
    expect(abortListeners(stop.signal)).toBe(0);
    vi.unstubAllEnvs();
  });

  it.each(KINDS)("that $how over $scheme before the request costs no attempt", async (kind) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    await using receiver = await Receiver.open(ok, kind.scheme);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await warm(publisher);
    const [socket] = receiver.sockets;
    kind.cut(socket as Socket); // in the same turn: the client does not know yet
    await publisher.publish(sampleMessage(), signal);
    expect(receiver.arrivals.at(-1)).toBe("1:1");
    vi.unstubAllEnvs();
  });

  it("that was told of its timeout (408) instead of an answer costs no attempt", async () => {
    await using receiver = await Receiver.open(
      ({ response, turn }) => void response.writeHead(turn === 1 ? 204 : 408).end(),
    );
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await warm(publisher);
    await publisher.publish(sampleMessage(), signal);
    expect(receiver.arrivals).toEqual(["0:1", "0:2", "1:1"]);
  });

  it("that is fresh and answers 408 is a failed attempt", async () => {
    await using receiver = await Receiver.open(
      ({ response }) => void response.writeHead(408).end(),
    );
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await expect(publisher.publish(sampleMessage(), signal)).rejects.toThrow("408");
    expect(receiver.arrivals).toEqual(["0:1"]);
  });

  it.each(KINDS)("that is fresh and $how over $scheme is a failed attempt", async (kind) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    await using receiver = await Receiver.open(({ socket }) => kind.cut(socket), kind.scheme);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    expect(await errorOf(publisher.publish(sampleMessage(), signal))).toSatisfy(isWebhookError);
    expect(receiver.arrivals).toEqual(["0:1"]);
    vi.unstubAllEnvs();
  });

  it("is followed by one fresh connection, whose end is a failed attempt", async () => {
    const answer: Answer = (arrival) =>
      receiver.arrivals.length <= 2 ? ok(arrival) : arrival.socket.resetAndDestroy();
    await using receiver = await Receiver.open(answer);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    // Two connections are idle, and both would break.
    await Promise.all([warm(publisher), warm(publisher)]);
    expect(await errorOf(publisher.publish(sampleMessage(), signal))).toSatisfy(isWebhookError);
    expect(receiver.arrivals.slice(2)).toEqual([expect.stringMatching(/^[01]:2$/), "2:1"]);
  });

  it.each([
    ["half a head", "HTTP/1.1 204 No Cont"],
    ["a byte", "H"],
    ["what is no HTTP", "no\r\n\r\n"],
    ["an interim response", "HTTP/1.1 102 Processing\r\n\r\n"],
  ])("that breaks after %s is a failed attempt, and is not asked again", async (_, text) => {
    const answer: Answer = (arrival) => {
      if (arrival.turn === 1) return ok(arrival);
      arrival.socket.write(text, () => arrival.socket.destroy());
    };
    await using receiver = await Receiver.open(answer);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await warm(publisher);
    expect(await errorOf(publisher.publish(sampleMessage(), signal))).toSatisfy(isWebhookError);
    expect(receiver.arrivals).toEqual(["0:1", "0:2"]);
  });

  it("is not replaced after an abort: before its break, and while the fresh one waits", async () => {
    for (const abortAt of ["0:2", "1:1"]) {
      const stop = new AbortController();
      const answer: Answer = (arrival) => {
        if (receiver.arrivals.at(-1) === abortAt) stop.abort("enough");
        if (arrival.turn === 2) arrival.socket.resetAndDestroy();
        else if (receiver.arrivals.length === 1) ok(arrival);
      };
      await using receiver = await Receiver.open(answer);
      await using publisher = new WebhookPublisher({ url: receiver.url });
      await warm(publisher);
      expect(await errorOf(publisher.publish(sampleMessage(), stop.signal))).toBe("enough");
      expect(receiver.arrivals.at(-1)).toBe(abortAt);
      expect(abortListeners(stop.signal)).toBe(0);
    }
  });

  it("leaves no message dead that has one attempt", async () => {
    const cutSecond: Answer = (arrival) =>
      arrival.turn === 2 ? arrival.socket.resetAndDestroy() : ok(arrival);
    await using receiver = await Receiver.open(cutSecond);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    const store = new MemoryStore();
    const outbox = new Outbox({ store, transaction: (work) => store.transaction(work) });
    const stop = new AbortController();
    const ends: string[] = [];
    const onEvent = ({ type }: { readonly type: string }): void => {
      if (type !== "claimed" && ends.push(type) === 10) stop.abort();
    };
    const relay = new Relay({ name: "relay", store, publisher, workers: 1, onEvent });
    for (let number = 0; number < 10; number++)
      await outbox.transaction((tx) =>
        outbox.save(tx, { topic: "paid", key: `order/${number}`, payload: number, maxAttempts: 1 }),
      );
    await relay.run(stop.signal);
    expect(ends).toEqual(Array.from({ length: 10 }, () => "delivered"));
  });
});

describe("an idle connection of a WebhookPublisher", () => {
  const saying =
    (keepAlive: string): Answer =>
    ({ response }) =>
      void response.writeHead(204, { "keep-alive": keepAlive }).end();

  it.each([
    ["4 s", "http", ok],
    ["4 s", "https", ok],
    ["the time that its receiver says", "http", saying("timeout=2")],
    ["the time that its receiver says among others", "http", saying("max=9, TIMEOUT=2")],
    ["its response, if its receiver keeps it for no time", "http", saying("timeout=0")],
    ["its response, if its receiver keeps it for 1 s", "http", saying("timeout=1")],
    ["4 s, although its receiver keeps it for longer", "http", saying("timeout=600")],
  ] as const)("is closed after %s (%s)", async (_, scheme, answer) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    await using receiver = await Receiver.open(answer, scheme);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await publisher.publish(sampleMessage(), signal);
    await Promise.all(receiver.closed); // it would wait for ever
    expect(receiver.arrivals).toEqual(["0:1"]);
    vi.unstubAllEnvs();
  });

  it("is not closed while it waits for an answer, however short its time", async () => {
    const answer: Answer = ({ response, turn }) => {
      response.setHeader("keep-alive", "timeout=3"); // idle for 2 s
      if (turn === 1) response.writeHead(204).end();
      else void realClock.sleep(2_500).then(() => response.writeHead(204).end());
    };
    await using receiver = await Receiver.open(answer);
    await using publisher = new WebhookPublisher({ url: receiver.url });
    await warm(publisher);
    await publisher.publish(sampleMessage(), signal);
    expect(receiver.arrivals).toEqual(["0:1", "0:2"]);
  });

  it("is one of 100 at most, to all hosts together: the oldest gives way", async () => {
    const receivers = await Promise.all(Array.from({ length: 120 }, () => Receiver.open(ok)));
    const url = ({ topic }: { readonly topic: string }): string =>
      receivers[Number(topic)]?.url ?? "";
    await using publisher = new WebhookPublisher({ url, allow: () => true });
    for (const number of receivers.keys())
      await publisher.publish(sampleMessage({ topic: `${number}` }), signal);
    await Promise.all(receivers.slice(0, 20).flatMap(({ closed }) => closed));
    for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  });

  it("is closed with its publisher", async () => {
    await using receiver = await Receiver.open(ok);
    const publisher = new WebhookPublisher({ url: receiver.url });
    await Promise.all([warm(publisher), warm(publisher), warm(publisher)]);
    await publisher[Symbol.asyncDispose]();
    await Promise.all(receiver.closed);
    expect(receiver.closed).toHaveLength(3);
  });
});
