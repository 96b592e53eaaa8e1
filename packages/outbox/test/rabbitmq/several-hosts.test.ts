import { FakeClock } from "@holdfast/clock/testing";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { expect, it } from "vitest";

const PORTS = [9, 11, 13];
const urls = PORTS.map((port) => `amqp://127.0.0.1:${port}`);

/** The ports that a publisher tries, in this order. */
async function tried(url: string | readonly string[], draws: readonly number[], count: number) {
  const rest = [...draws];
  const random = (): number => rest.shift() ?? 0.5;
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  await using _ = new RabbitPublisher({ url, clock, random, onError, backoff: { duration: 1 } });
  for (let attempt = 1; attempt <= count; attempt++) {
    await expect.poll(() => errors.length).toBeGreaterThanOrEqual(attempt);
    await clock.step(1);
  }
  return errors.slice(0, count).map((error) => Number(/:(\d+)$/.exec(String(error))?.[1]));
}

it.each([
  [
    [0.1, 0.2, 0.3],
    [9, 11, 13, 9, 11],
  ],
  [
    [0.3, 0.2, 0.1],
    [13, 11, 9, 13, 11],
  ],
  [
    [0.2, 0.9, 0],
    [13, 9, 11, 13, 9],
  ],
])("tries several hosts in turn, shuffled by the draws %j", async (draws, expected) => {
  expect(await tried(urls, draws, 5)).toEqual(expected);
});

it("tries a single host again and again", async () => {
  expect(await tried("amqp://127.0.0.1:11", [], 2)).toEqual([11, 11]);
  expect(await tried(["amqp://127.0.0.1:13"], [], 2)).toEqual([13, 13]);
});
