import { silentLogger } from "@holdfast/controller";
import { Relay } from "@holdfast/outbox";
import { RabbitPublisher, type Route } from "@holdfast/outbox/rabbitmq";
import { MemoryStore } from "@holdfast/outbox/testing";
import { poll } from "@holdfast/wait";
import { connect } from "amqplib";
import { describe, expect, it } from "vitest";
import { requiredUrl } from "../../../../test/required-url.ts";
import { idOf, sample } from "../sample.ts";
import { routeOf, TestQueue, topicOf } from "./test-queue.ts";

const url = requiredUrl("AMQP_URL");

const MESSAGES = 200;

/** Every tenth message is poison. */
const isPoison = (number: number): boolean => number % 10 === 0;

/** An exchange that responds to each publication with the channel error 403. */
async function withInternalExchange(
  route: Route,
  work: (route: Route) => Promise<void>,
): Promise<void> {
  const connection = await connect(url);
  const channel = await connection.createChannel();
  const exchange = `${route.exchange}-internal`;
  await channel.assertExchange(exchange, "direct", { durable: false, internal: true });
  try {
    await work({ ...route, exchange });
  } finally {
    await channel.deleteExchange(exchange);
    await connection.close();
  }
}

describe("20 poison messages among 200", () => {
  it.each([5, 50, 200])(
    "make no other message dead, failed or delivered twice, with %i workers",
    async (workers) => {
      await using queue = await TestQueue.make(url);
      await withInternalExchange(queue.route, async (refused) => {
        const store = new MemoryStore();
        await store.transaction(async (tx) => {
          for (let number = 1; number <= MESSAGES; number++) {
            const topic = topicOf(isPoison(number) ? refused : queue.route);
            const schedule = { backoff: { duration: 20, factor: 1 }, maxAttempts: 3 };
            await store.save(tx, sample(number, { topic, ...schedule }), Date.now() - 1_000);
          }
        });
        const losses: unknown[] = [];
        const onError = (error: unknown): number => losses.push(error);
        await using publisher = new RabbitPublisher({
          route: routeOf,
          url,
          backoff: { duration: 50 },
          onError,
        });
        const failed: string[] = [];
        const stop = new AbortController();
        const running = new Relay({
          name: "relay",
          store,
          publisher,
          workers,
          pollInterval: 20,
          logger: silentLogger,
          onEvent: (event) => event.type === "failed" && failed.push(event.claim.message.id),
        }).run(stop.signal);
        await poll(async () => {
          const { pending, retrying } = await store.backlog();
          return pending + retrying === 0;
        });
        stop.abort();
        await running;

        const numbers = Array.from({ length: MESSAGES }, (_, index) => index + 1);
        const good = numbers.filter((number) => !isPoison(number)).map(idOf);
        const poison = numbers.filter(isPoison).map(idOf);
        const received = (await queue.take()).map(({ id }) => id);
        console.log(
          `${workers} workers: ${received.length} deliveries of ${new Set(received).size} messages`,
        );
        expect(received.toSorted()).toEqual(good);
        expect(await store.counts()).toMatchObject({ delivered: good.length, dead: poison.length });
        expect(new Set(failed)).toEqual(new Set(poison));
        expect(losses).toEqual([]);
      });
    },
  );
});
