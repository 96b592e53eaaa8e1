import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { type Message, Outbox, type Publisher, Relay } from "@holdfast/outbox";
import { poll } from "@holdfast/wait";
import { describe, expect, it } from "vitest";
import { sample } from "../sample.ts";
import type { ConnectedStore } from "./connected-store.ts";

const MESSAGES = 300;

/** A receiver that fails every third attempt, and sees when two attempts of a message overlap. */
export class Receiver implements Publisher {
  readonly delivered: string[] = [];
  readonly #busy = new Set<string>();
  overlaps = 0;
  attempts = 0;

  async publish({ id }: Message, signal: AbortSignal): Promise<void> {
    if (this.#busy.has(id)) this.overlaps++;
    this.#busy.add(id);
    const attempt = ++this.attempts;
    try {
      await realClock.sleep(attempt % 7, { signal });
    } finally {
      this.#busy.delete(id);
    }
    if (attempt % 3 === 0) throw new Error("busy");
    this.delivered.push(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * What relays on one table do, each with connections of its own.
 *
 * @param open - makes a database with the tables of the outbox, and gives what connects to it
 */
export function testRelays<Tx extends object>(
  name: string,
  open: () => Promise<() => ConnectedStore<Tx>>,
): void {
  describe(`relays on ${name}`, () => {
    it.each([2, 5])(
      "%i at once deliver each message once, and none by two at a time",
      async (count) => {
        const connect = await open();
        await using own = connect();
        const { store } = own;
        const now = Date.now() - 60_000; // due already
        const saved = await own.transaction(async (tx) => {
          const messages: Message[] = [];
          for (let number = 1; number <= MESSAGES; number++) {
            const facts = { backoff: { duration: 20, factor: 1 }, maxAttempts: 100 };
            messages.push(await store.save(tx, sample(number, facts), now));
          }
          return messages;
        });

        const receiver = new Receiver();
        const stop = new AbortController();
        const connections = Array.from({ length: count }, connect);
        const runs = connections.map((connection, index) =>
          new Relay({
            name: `relay-${index}`,
            store: connection.store,
            publisher: receiver,
            pollInterval: 50,
            logger: silentLogger,
            clockSkew: 0,
          }).run(stop.signal),
        );
        const isDone = async (): Promise<boolean> => (await store.counts()).delivered === MESSAGES;
        await poll(isDone, { backoff: { duration: 50 }, timeout: 120_000 });
        stop.abort();
        await Promise.all(runs);
        for (const connection of connections) await connection[Symbol.asyncDispose]();

        expect(receiver.overlaps).toBe(0);
        expect(receiver.delivered.toSorted()).toEqual(saved.map(({ id }) => id).toSorted());
      },
    );

    it("send no message of a topic that one of them has paused, until it is resumed", async () => {
      const connect = await open();
      await using own = connect();
      await using other = connect();
      const { store } = own;
      const sent: string[] = [];
      const publisher: Publisher = {
        async publish({ topic }) {
          sent.push(topic);
        },
      };
      const stop = new AbortController();
      const hasPaused = new Set<string>();
      const runs = [own, other].map((connection, index) =>
        new Relay({
          name: `relay-${index}`,
          store: connection.store,
          publisher,
          pollInterval: 50,
          logger: silentLogger,
          clockSkew: 0,
          onEvent: ({ type }) => {
            if (type === "paused") hasPaused.add(`relay-${index}`);
          },
        }).run(stop.signal),
      );
      const save = (first: number, topic: string) =>
        own.transaction(async (tx) => {
          for (let number = first; number < first + 50; number++)
            await store.save(tx, sample(number, { topic }), Date.now() - 60_000);
        });
      const delivers = (count: number) =>
        poll(async () => (await store.counts()).delivered === count, {
          backoff: { duration: 20 },
          timeout: 60_000,
        });
      expect(await store.pause?.("held", Date.now())).toBe(true);
      await poll(() => hasPaused.size === 2, { backoff: { duration: 20 }, timeout: 60_000 });
      await save(1, "held");
      await save(101, "free");
      await delivers(50);
      expect(new Set(sent)).toEqual(new Set(["free"]));
      expect(await store.counts()).toMatchObject({ pending: 50 });
      await store.resume?.("held");
      await delivers(100);
      stop.abort();
      await Promise.all(runs);
    });

    it("send what is replayed while the replay goes on", async () => {
      const connect = await open();
      await using own = connect();
      const { store } = own;
      const now = Date.now() - 60_000;
      await own.transaction(async (tx) => {
        for (let number = 1; number <= MESSAGES; number++)
          await store.save(tx, sample(number), now);
      });
      const claimed = await store.claim({ relay: "a", now, until: now + 1, limit: MESSAGES });
      const failure = { now, error: "refused", dueAt: undefined };
      await store.write(claimed.claims.map((claim) => ({ type: "failed", claim, failure })));
      const { deadLetters } = new Outbox({ store, onCommitted: () => {} });
      await using other = connect();
      const sent: number[] = [];
      const sends = async (): Promise<void> => {
        const at = Date.now() + 60_000;
        // No lock of the portion is left, and none of the others is taken.
        const request = { relay: "b", now: at, until: at + 60_000, limit: MESSAGES };
        const { claims } = await other.store.claim(request);
        await other.store.write(claims.map((claim) => ({ type: "delivered", claim, now: at })));
        sent.push(claims.length);
      };
      const { replay } = store;
      store.replay = async (...args) => {
        const count = await replay.apply(store, args);
        await sends();
        return count;
      };
      const told: number[] = [];
      const onProgress = (count: number) => told.push(count);
      expect(await deadLetters.replay("all", { portion: 120, onProgress })).toBe(MESSAGES);
      expect([told, sent]).toEqual([
        [120, 240, 300],
        [120, 120, 60],
      ]);
      expect(await store.counts()).toMatchObject({ dead: 0, delivered: MESSAGES });
    });
  });
}
