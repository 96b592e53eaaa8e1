import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import {
  type NewMessage,
  Outbox,
  type OutboxEvent,
  Relay,
  type RelayOptions,
} from "@holdfast/outbox";
import { migrate, type PostgresDatabase, PostgresStore } from "@holdfast/outbox/postgres";
import type { Queryable } from "@holdfast/outbox/store";
import { poll } from "@holdfast/wait";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakePublisher } from "../fake-publisher.ts";
import { sample } from "../sample.ts";

/** The databases of two processes: the same one, each through a connection of its own if it can. */
export interface TwoProcesses {
  /** Saves messages, and has no relay. */
  readonly shop: PostgresDatabase;
  /** Has a relay, and saves nothing. */
  readonly sender: PostgresDatabase;
}

const HOUR = 3_600_000;

/** A relay that would find messages of others an hour later, if nothing wakes it. */
export class ListeningRelay implements AsyncDisposable {
  readonly publisher = new FakePublisher(realClock);
  readonly errors: unknown[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #asked = 0;
  #isListening = false;

  constructor(database: PostgresDatabase, options: Partial<RelayOptions> = {}) {
    const onEvent = (event: OutboxEvent): void => {
      if (event.type === "error") this.errors.push(event.error);
      if (event.type === "listening") this.#isListening = event.isListening;
      options.onEvent?.(event);
    };
    const relay = new Relay({
      name: "relay",
      store: new PostgresStore(database),
      publisher: this.publisher,
      pollInterval: HOUR,
      logger: silentLogger,
      ...options,
      onEvent,
    });
    this.#running = relay.run(this.#stop.signal);
  }

  /** The numbers of the messages it has sent. Those up to 100 only ask whether it listens. */
  get sent(): number[] {
    return this.publisher.sent.map(([, number]) => number).filter((number) => number > 100);
  }

  /** Waits until it listens, by messages that it is to send at once. Its first claim may find the first of them. */
  async listens(shop: PostgresDatabase): Promise<void> {
    const before = this.publisher.sent.length;
    await until(async () => {
      await saveIn(shop, ++this.#asked);
      await realClock.sleep(20);
      return this.#isListening && this.publisher.sent.length > before;
    });
    await until(() => this.publisher.sent.length >= this.#asked);
  }

  /** Waits until so many messages were sent. */
  async hasSent(count: number): Promise<void> {
    await until(() => this.sent.length >= count);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await poll(condition, { backoff: { duration: 5 }, timeout: 120_000 });
}

/** Saves a message in a process without a relay. */
export async function saveIn(
  database: PostgresDatabase,
  number: number,
  facts: Partial<NewMessage> = {},
): Promise<void> {
  const outbox = new Outbox<Queryable>({
    store: new PostgresStore(database),
    transaction: (work) => database.transaction(work),
  });
  const message = sample(number, facts);
  await outbox.transaction((tx) => outbox.save(tx, message));
}

/** What holds for a relay that listens, on every PostgreSQL. */
export function testListening(name: string, open: () => Promise<TwoProcesses>): void {
  describe(`a relay that listens on ${name}`, () => {
    let shop: PostgresDatabase;
    let sender: PostgresDatabase;

    beforeAll(async () => {
      ({ shop, sender } = await open());
      await migrate(shop);
    });

    beforeEach(() => shop.query("TRUNCATE outbox_message"));

    afterAll(async () => {
      await shop[Symbol.asyncDispose]();
      if (sender !== shop) await sender[Symbol.asyncDispose]();
    });

    it("sends messages of another process at once, and once", async () => {
      await using relay = new ListeningRelay(sender);
      await relay.listens(shop);
      await Promise.all([101, 102, 103].map((number) => saveIn(shop, number)));
      await relay.hasSent(3);
      expect(relay.sent.toSorted()).toEqual([101, 102, 103]);
      expect(relay.errors).toEqual([]);
    });

    it("needs one notification for any number of messages", async () => {
      await using relay = new ListeningRelay(sender);
      await relay.listens(shop);
      const store = new PostgresStore(shop);
      await shop.transaction(async (tx) => {
        for (const number of [101, 102, 103]) await store.save(tx, sample(number), realClock.now());
      });
      await shop.query("NOTIFY outbox_saved, 'with any text'");
      await relay.hasSent(3);
      expect([relay.sent.toSorted(), relay.errors]).toEqual([[101, 102, 103], []]);
    });

    it("finds messages within pollInterval with listen: false", async () => {
      await using relay = new ListeningRelay(sender, { listen: false, pollInterval: 50 });
      await saveIn(shop, 101);
      await relay.hasSent(1);
      expect(relay.sent).toEqual([101]);
    });

    it("ignores tables of another prefix, whose relays hear of them", async () => {
      const stop = new AbortController();
      const other = { prefix: "other_" };
      const heard: string[] = [];
      let wakes = 0;
      const listening = [
        sender.listen?.("outbox_saved", (text) => void heard.push(text), stop.signal),
        new PostgresStore(sender, other).listen?.(() => void wakes++, stop.signal),
      ];
      await until(() => heard.length === 1 && wakes === 1); // both listen
      await new PostgresStore(shop, other).notify();
      await until(() => wakes === 2);
      await shop.query("NOTIFY outbox_saved, 'own'"); // arrives after what was sent before
      await until(() => heard.includes("own"));
      expect(heard).toEqual(["", "own"]);
      stop.abort();
      await Promise.all(listening);
    });
  });
}
