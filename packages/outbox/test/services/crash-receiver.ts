import { once } from "node:events";
import { createServer, type OutgoingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { realClock } from "@holdfast/clock";
import { seededRandom } from "@holdfast/wait/strategies";

/** What a receiver does with an attempt, how often in percent; the others get their effect and a 200. */
const FAULTS = [
  ["error", 12],
  ["busy", 4],
  ["away", 4],
  ["hang", 2],
  ["reset", 8],
  ["lost reply", 10],
] as const;

type Fault = (typeof FAULTS)[number][0] | "none" | "reject";

const RESPONSES: Partial<Record<Fault, readonly [number, OutgoingHttpHeaders]>> = {
  none: [200, {}],
  error: [500, {}],
  busy: [429, { "retry-after": "1" }],
  away: [503, { "retry-after": "1" }],
  reject: [422, {}],
};

/** Above the timeout of a sender. Milliseconds. */
const HANG = 3_000;

/** Whether the receiver refuses an order for good. */
export function isRefused(order: number): boolean {
  return order % 10 === 0;
}

/** A webhook that fails as real ones do: the seed decides which attempts, and how. */
export class CrashReceiver implements AsyncDisposable {
  /** The attempts of each message, by its id. */
  readonly attempts = new Map<string, number>();
  /** The ids of messages whose effect took place: a second attempt is recognized by its id. */
  readonly effects = new Set<string>();
  /** Attempts that found the effect done. */
  duplicates = 0;
  readonly #random: () => number;
  readonly #server: Server;

  private constructor(seed: number) {
    this.#random = seededRandom(seed);
    this.#server = createServer((request, response) => {
      void (async () => {
        const id = String(request.headers["idempotency-key"]);
        const { order } = (await json(request)) as { readonly order: number };
        this.attempts.set(id, (this.attempts.get(id) ?? 0) + 1);
        const fault = isRefused(order) ? "reject" : this.#draw();
        if (fault === "hang") await realClock.sleep(HANG);
        if (fault === "none" || fault === "lost reply") this.#apply(id);
        const head = RESPONSES[fault];
        if (head === undefined) response.destroy();
        else response.writeHead(...head).end();
      })().catch(() => response.destroy()); // The sender died in the middle.
    });
  }

  static async start(seed: number): Promise<CrashReceiver> {
    const receiver = new CrashReceiver(seed);
    receiver.#server.listen(0, "127.0.0.1");
    await once(receiver.#server, "listening");
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #apply(id: string): void {
    if (this.effects.has(id)) this.duplicates++;
    this.effects.add(id);
  }

  #draw(): Fault {
    let drawn = 100 * this.#random();
    for (const [fault, percent] of FAULTS) {
      if (drawn < percent) return fault;
      drawn -= percent;
    }
    return "none";
  }
}
