import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Clock } from "@holdfast/clock";
import { z } from "zod";
import { oneAtATime } from "../../web/one-at-a-time.ts";
import { SENDER } from "../order.ts";
import { type Fault, faultOf } from "./fault.ts";
import type { Inbox } from "./inbox.ts";
import { Ledger } from "./ledger.ts";
import { Standstill } from "./standstill.ts";

const ORDER = z.object({ order: z.int() });

/** Duration of a hang: above the timeout of a sender, and below the duration of its claim. */
const HANG = 3_000;

/** Responses of the faults that respond; the others end the connection. */
const RESPONSES: Partial<Record<Fault, readonly [status: number, headers: OutgoingHttpHeaders]>> = {
  none: [200, {}],
  error: [500, {}],
  busy: [429, { "retry-after": "1" }],
  away: [503, { "retry-after": "1" }],
  reject: [422, {}],
};

/** Options for {@link Receiver}. */
export interface ReceiverOptions {
  /** Lets the effect of a message take place, unless it has. Resolves with whether it took place now. */
  readonly apply: (id: string) => Promise<boolean>;
  /** Decides which attempts fail, and how; none does if undefined. */
  readonly seed: number | undefined;
  readonly clock: Clock;
}

/** A webhook that fails like real ones, and keeps a ledger of its work. */
export class Receiver implements Inbox {
  readonly name = "receiver";
  readonly ledger: Ledger;
  readonly #standstill: Standstill;
  readonly #server: Server;
  readonly #options: ReceiverOptions;
  #seed: number | undefined;

  private constructor(options: ReceiverOptions) {
    const { clock } = options;
    this.#options = options;
    this.#seed = options.seed;
    this.#standstill = new Standstill(clock);
    this.ledger = new Ledger({ clock, standstill: this.#standstill });
    this.#server = createServer(
      oneAtATime((request, response) => void this.#receive(request, response)),
    );
  }

  static async start(options: ReceiverOptions): Promise<Receiver> {
    const receiver = new Receiver(options);
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  repair(): void {
    this.#seed = undefined;
  }

  async isIdle(): Promise<boolean> {
    return this.ledger.counts.open === 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
    this.#standstill[Symbol.dispose]();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["idempotency-key"];
    if (typeof id !== "string") {
      response.writeHead(400).end("Idempotency-Key is missing\n");
      return;
    }
    const sender = request.headers[SENDER];
    const handling = this.ledger.open({ id, sender: sender?.toString() });
    onceOver(response, () => handling.leave());
    let fault: Fault = "error";
    try {
      const { order } = ORDER.parse(await json(request));
      handling.fault = faultOf(order, handling.attempt, this.#seed);
      await this.#work(id, handling.fault);
      fault = handling.fault;
    } catch {
      // The sender died in the middle, or the database is unreachable: nothing was done.
    }
    await handling.judged;
    respond(response, fault);
    handling.end();
  }

  async #work(id: string, fault: Fault): Promise<void> {
    if (fault === "hang") await this.#options.clock.sleep(HANG);
    if (fault === "none" || fault === "lost reply") await this.#apply(id);
  }

  async #apply(id: string): Promise<void> {
    this.ledger.count(await this.#options.apply(id));
  }
}

function respond(response: ServerResponse, fault: Fault): void {
  const head = RESPONSES[fault];
  if (head === undefined) response.destroy();
  else response.writeHead(...head).end();
}

/** Calls once when a request has its response, or its sender has gone, at the first sign of that. */
function onceOver(response: ServerResponse, callback: () => void): void {
  const { socket } = response;
  const over = (): void => {
    response.off("close", over);
    socket?.off("end", over).off("error", over);
    callback();
  };
  response.once("close", over);
  socket?.once("end", over).once("error", over);
}
