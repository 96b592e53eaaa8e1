import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "@holdfast/clock";
import type { StatusSource } from "./status-source.ts";

/** What an {@link EventStream} needs. */
export interface EventStreamOptions {
  readonly clock: Clock;
  readonly status: StatusSource;
}

/** The least time between two snapshots, in milliseconds: ten a second are enough for an eye. */
const GAP = 100;
/** How often a stream says that it is alive, in milliseconds. */
const BEAT = 1_000;

/**
 * Server-sent events: a snapshot at once, then one after each change, at most ten a second. Beside
 * them there is a `beat` each second, so that who listens can tell a quiet supervisor from one that
 * is stuck.
 */
export class EventStream implements Disposable {
  readonly #status: StatusSource;
  readonly #clients = new Set<ServerResponse>();
  /** Those who have not yet read what they were sent. They get the latest when they have. */
  readonly #behind = new Set<ServerResponse>();
  readonly #subscription: Disposable;
  /** Runs while a snapshot must not follow another one. */
  readonly #gap: Timer;
  readonly #beat: Timer;
  /** Whether something has changed while `#gap` was running. */
  #changed = false;

  constructor({ clock, status }: EventStreamOptions) {
    this.#status = status;
    this.#gap = clock.afterFunc(Number.POSITIVE_INFINITY, () => this.#endGap(), { label: "gap" });
    this.#gap.stop();
    this.#beat = clock.afterFunc(BEAT, () => this.#sendBeat(), { label: "beat" });
    this.#beat.stop();
    this.#subscription = status.onChange(() => this.#change());
  }

  /** Starts to tell somebody, until the connection closes. */
  add(client: ServerResponse): void {
    // Nothing follows on this connection: who stops may close it at once.
    client.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
    client.on("drain", () => this.#caughtUp(client));
    client.on("close", () => this.#remove(client));
    // What a client that has gone away makes of a write is no concern of the others.
    client.on("error", () => {});
    client.write(`retry: ${BEAT}\n\n${this.#snapshot()}`);
    this.#clients.add(client);
    if (!this.#beat.active) this.#beat.reset(BEAT);
  }

  /** Ends all streams. */
  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#gap.stop();
    this.#beat.stop();
    for (const client of this.#clients) client.end();
  }

  #change(): void {
    this.#changed = true;
    if (!this.#gap.active) this.#endGap();
  }

  #endGap(): void {
    if (!this.#changed || this.#clients.size === 0) return;
    this.#changed = false;
    this.#gap.reset(GAP);
    this.#send(this.#snapshot());
  }

  #sendBeat(): void {
    this.#beat.reset(BEAT);
    this.#send("event: beat\ndata:\n\n");
  }

  #send(text: string): void {
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
    if (this.#clients.size === 0) this.#beat.stop();
  }

  #snapshot(): string {
    return `data: ${JSON.stringify(this.#status.snapshot())}\n\n`;
  }
}
