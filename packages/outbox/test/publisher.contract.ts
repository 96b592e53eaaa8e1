import { realClock } from "@holdfast/clock";
import type { Message, Publisher } from "@holdfast/outbox";
import { describe, expect, it } from "vitest";
import { abortListeners } from "../../../test/abort-listeners.ts";
import { errorOf } from "../../../test/error-of.ts";
import { sampleMessage } from "./sample-message.ts";

/** A message as the receiver has it. */
export interface Delivery {
  readonly id: unknown;
  readonly payload: unknown;
}

/** A publisher, and its receiver as the suite sees it. */
export interface PublisherWorld extends AsyncDisposable {
  readonly publisher: Publisher & AsyncDisposable;

  /** A topic that the receiver accepts. */
  readonly topic: string;

  /** A topic that it refuses. */
  readonly refused: string;

  /** Whether the receiver drops what it has by its id: a message that is published twice is there once. */
  readonly isDeduplicating?: boolean;

  /** All deliveries so far. */
  deliveries(): Promise<readonly Delivery[]>;

  /** From now on the receiver accepts messages and does not respond. */
  hang(): void;
}

const { signal } = new AbortController();

/** What every publisher does. */
export function testPublisher(name: string, make: () => Promise<PublisherWorld>): void {
  describe(`${name} as a publisher`, () => {
    const messagesFor = (topic: string, count: number): readonly Message[] =>
      Array.from({ length: count }, (_, order) => sampleMessage({ topic, payload: { order } }));
    const idsOf = (all: readonly { readonly id: unknown }[]): unknown[] => all.map(({ id }) => id);
    const twice = (world: PublisherWorld, all: readonly Message[]): unknown[] =>
      all.flatMap(({ id }) => (world.isDeduplicating ? [id] : [id, id]));

    it.each([
      [null],
      [false],
      [0],
      [""],
      [[]],
      [{ a: [1, { b: "é 💡\u2028" }] }],
      ["x".repeat(1e6)],
    ])(
      "resolves once the receiver has the message, with its id and its payload",
      async (payload) => {
        await using world = await make();
        const message = sampleMessage({ topic: world.topic, payload });
        expect(await world.publisher.publish(message, signal)).toBeUndefined();
        expect(await world.deliveries()).toEqual([{ id: message.id, payload }]);
      },
    );

    it("delivers many at the same time, each once", async () => {
      await using world = await make();
      const messages = messagesFor(world.topic, 200);
      await Promise.all(messages.map((message) => world.publisher.publish(message, signal)));
      expect(idsOf(await world.deliveries()).toSorted()).toEqual(idsOf(messages).toSorted());
    });

    it("delivers a message as often as it is published, but to a receiver that drops duplicates", async () => {
      await using world = await make();
      const message = sampleMessage({ topic: world.topic });
      await world.publisher.publish(message, signal);
      await world.publisher.publish(message, signal);
      expect(idsOf(await world.deliveries())).toEqual(twice(world, [message]));
    });

    it("rejects a refused message, and no other", async () => {
      await using world = await make();
      const good = messagesFor(world.topic, 30);
      const bad = messagesFor(world.refused, 10);
      const publish = async (message: Message): Promise<unknown> =>
        await errorOf(world.publisher.publish(message, signal));
      for (let round = 0; round < 2; round++) {
        const [errors, outcomes] = await Promise.all([
          Promise.all(bad.map(publish)),
          Promise.all(good.map(publish)),
        ]);
        expect(errors.every((error) => error instanceof Error)).toBe(true);
        expect(outcomes).toEqual(new Array(30).fill(undefined));
      }
      expect(idsOf(await world.deliveries()).toSorted()).toEqual(twice(world, good).toSorted());
    });

    it("rejects with signal.reason for an aborted signal, and sends nothing", async () => {
      await using world = await make();
      const reason = new Error("stop");
      const message = sampleMessage({ topic: world.topic });
      const outcome = world.publisher.publish(message, AbortSignal.abort(reason));
      expect(await errorOf(outcome)).toBe(reason);
      await realClock.sleep(20);
      expect(await world.deliveries()).toEqual([]);
    });

    it("rejects with signal.reason at once when aborted during an attempt, and leaves no listener", async () => {
      await using world = await make();
      const [first, second] = messagesFor(world.topic, 2) as [Message, Message];
      await world.publisher.publish(first, signal);
      world.hang();
      for (const reason of [new Error("enough"), "text", undefined]) {
        const stop = new AbortController();
        const outcome = errorOf(world.publisher.publish(second, stop.signal));
        await realClock.sleep(20);
        expect(abortListeners(stop.signal)).toBe(1);
        stop.abort(reason);
        expect(await outcome).toBe(stop.signal.reason);
        expect(abortListeners(stop.signal)).toBe(0);
      }
    });

    it("leaves no listener after a confirmation and after a refusal", async () => {
      await using world = await make();
      const stop = new AbortController();
      await world.publisher.publish(sampleMessage({ topic: world.topic }), stop.signal);
      expect(abortListeners(stop.signal)).toBe(0);
      await errorOf(world.publisher.publish(sampleMessage({ topic: world.refused }), stop.signal));
      expect(abortListeners(stop.signal)).toBe(0);
    });

    it("rejects pending and later attempts when it is disposed", async () => {
      await using world = await make();
      const { publisher } = world;
      const [first, second] = messagesFor(world.topic, 2) as [Message, Message];
      await publisher.publish(first, signal);
      world.hang();
      const stop = new AbortController();
      const pending = errorOf(publisher.publish(second, stop.signal));
      await realClock.sleep(20);
      await publisher[Symbol.asyncDispose]();
      const closed = new Error("publisher is closed");
      expect(await pending).toEqual(closed);
      expect(await errorOf(publisher.publish(second, stop.signal))).toEqual(closed);
      expect(abortListeners(stop.signal)).toBe(0);
      await publisher[Symbol.asyncDispose]();
    });

    it("rejects a payload that is not JSON with a TerminalError, and sends nothing", async () => {
      await using world = await make();
      const circular: unknown[] = [];
      circular.push(circular);
      for (const payload of [undefined, 1n, circular, () => 1]) {
        const message = { ...sampleMessage({ topic: world.topic }), payload };
        const error = await errorOf(world.publisher.publish(message, signal));
        expect(error).toMatchObject({
          name: "TerminalError",
          message: "message cannot be encoded",
          cause: expect.any(TypeError),
        });
      }
      expect(await world.deliveries()).toEqual([]);
    });
  });
}
