import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { z } from "zod";
import { faultOf } from "./fault.ts";
import { Ledger } from "./ledger.ts";

const ORDER = z.object({ order: z.int() });
const RETRY_AFTER = { "retry-after": "1" };

/** A webhook that is as unreliable as the real ones, and keeps a ledger of what it did. */
export class Receiver implements AsyncDisposable {
  readonly ledger: Ledger = new Ledger();
  readonly #server: Server;
  readonly #seed: number;

  private constructor(seed: number) {
    this.#seed = seed;
    this.#server = createServer((request, response) => void this.#receive(request, response));
  }

  /** @param seed - decides which attempts fail, and how */
  static async start(seed: number): Promise<Receiver> {
    const receiver = new Receiver(seed);
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["idempotency-key"];
    if (typeof id !== "string") {
      response.writeHead(400).end("Idempotency-Key is missing\n");
      return;
    }
    const attempt = this.ledger.open(id);
    response.once("close", () => this.ledger.close(id));
    try {
      const { order } = ORDER.parse(await json(request));
      this.#answer(id, faultOf(order, attempt, this.#seed), response);
    } catch {
      // The sender died in the middle, or sent what is no order: nothing was done.
      if (!response.headersSent) response.writeHead(400).end();
    }
  }

  #answer(id: string, fault: ReturnType<typeof faultOf>, response: ServerResponse): void {
    switch (fault) {
      case "none":
        this.ledger.apply(id);
        response.writeHead(200).end();
        break;
      case "error":
        response.writeHead(500).end();
        break;
      case "busy":
        response.writeHead(429, RETRY_AFTER).end();
        break;
      case "away":
        response.writeHead(503, RETRY_AFTER).end();
        break;
      case "hang":
        break;
      case "reset":
        response.destroy();
        break;
      case "lost reply":
        this.ledger.apply(id);
        response.destroy();
        break;
      case "refuse":
        response.writeHead(422).end();
        break;
    }
  }
}
