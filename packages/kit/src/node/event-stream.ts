import type { ServerResponse } from "node:http";
import type { SnapshotSource } from "./live-page.ts";

/** The part of a timer of a clock that is used. */
interface Timer {
  readonly active: boolean;
  stop(): boolean;
  reset(delay: number): boolean;
  [Symbol.dispose](): void;
}

/** The part of a clock that a live page uses. */
export interface PageClock {
  monotonic(): number;
  afterFunc(delay: number, fire: () => void, options?: { readonly label?: string }): Timer;
}

/** Options for an {@link EventStream}. */
export interface EventStreamOptions<Snapshot> {
  readonly clock: PageClock;
  readonly status: SnapshotSource<Snapshot>;
  /** The data of an event. */
  readonly encode: (snapshot: Snapshot) => unknown;
}

/** The least time between two snapshots, in milliseconds: ten a second are enough for an eye. */
const GAP = 100;
/** Maximum time between two events. A client that gets none for longer knows that the server is stuck. */
const BEAT = 1_000;

/** Server-sent events: a snapshot at once, then one after each change and each second. */
export class EventStream<Snapshot> implements Disposable {
  readonly #clock: PageClock;
  readonly #status: SnapshotSource<Snapshot>;
  readonly #encode: EventStreamOptions<Snapshot>["encode"];
  readonly #clients = new Set<ServerResponse>();
  /** Clients with unread data. They get the latest snapshot after they have read it. */
  readonly #behind = new Set<ServerResponse>();
  readonly #subscription: Disposable;
  /** Runs until the next snapshot, while there are clients. */
  readonly #timer: Timer;
  /** The monotonic instant before which no further snapshot is sent. */
  #earliest = Number.NEGATIVE_INFINITY;

  constructor({ clock, status, encode }: EventStreamOptions<Snapshot>) {
    this.#clock = clock;
    this.#encode = encode;
    this.#status = status;
    this.#timer = clock.afterFunc(BEAT, () => this.#send(), { label: "next snapshot" });
    this.#timer.stop();
    this.#subscription = status.onChange(() => this.#change());
  }

  /** Sends snapshots to a client until the connection closes. */
  add(client: ServerResponse): void {
    // No further request comes on this connection, so a stop may close it at once.
    client.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    if (client.req.method === "HEAD") {
      client.end();
      return;
    }
    client.on("drain", () => this.#caughtUp(client));
    client.on("close", () => this.#remove(client));
    // A failed write to a disconnected client must not affect the others.
    client.on("error", () => {});
    client.write(`retry: ${BEAT}\n\n${this.#snapshot()}`);
    this.#clients.add(client);
    if (!this.#timer.active) this.#timer.reset(BEAT);
  }

  /** Ends all streams. */
  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#timer.stop();
    for (const client of this.#clients) client.end();
  }

  #change(): void {
    if (this.#clients.size === 0) return;
    const wait = this.#earliest - this.#clock.monotonic();
    if (wait <= 0) this.#send();
    else this.#timer.reset(wait);
  }

  #send(): void {
    this.#earliest = this.#clock.monotonic() + GAP;
    this.#timer.reset(BEAT);
    const text = this.#snapshot();
    for (const client of this.#clients) {
      if (client.writableNeedDrain) this.#behind.add(client);
      else client.write(text);
    }
  }

  #caughtUp(client: ServerResponse): void {
    if (this.#behind.delete(client) && this.#clients.has(client)) client.write(this.#snapshot());
  }

  #remove(client: ServerResponse): void {
    this.#clients.delete(client);
    this.#behind.delete(client);
    if (this.#clients.size === 0) this.#timer.stop();
  }

  #snapshot(): string {
    return `data: ${JSON.stringify(this.#encode(this.#status.snapshot()))}\n\n`;
  }
}
