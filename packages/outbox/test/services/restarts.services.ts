import { realClock } from "@holdfast/clock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { migrate, PgDatabase } from "@holdfast/outbox/postgres";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { describe, it } from "vitest";
import { PostgresServer } from "../../../../services/postgres.mjs";
import { RabbitServer } from "../../../../services/rabbitmq.mjs";
import { makeDatabase } from "../../../../test/make-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { TcpProxy } from "../../../../test/tcp-proxy.ts";
import { FakePublisher } from "../fake-publisher.ts";
import { idOf } from "../sample.ts";
import { Program } from "./program.ts";
import { poolTo } from "./test-database.ts";
import { routeOf, TestQueue, topicOf } from "./test-queue.ts";

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

async function migrated(url: string): Promise<string> {
  const pool = poolTo(url);
  await using database = new PgDatabase(pool);
  await migrate(database);
  await new PostgresLock(pool, { name: "recovery" }).createTable();
  return url;
}

describe.concurrent("a program that keeps running", () => {
  it("loses nothing when RabbitMQ is cut off, stops and is killed", async ({ expect }) => {
    const url = await migrated(await makeDatabase(requiredUrl("DATABASE_URL")));
    await using broker = await RabbitServer.start();
    await using proxy = await TcpProxy.to(broker.url);
    await using queue = await TestQueue.make(broker.url);
    const losses: unknown[] = [];
    await using publisher = new RabbitPublisher({
      route: routeOf,
      url: proxy.url,
      backoff: { duration: 50, factor: 2, cap: 500 },
      onError: (error) => losses.push(error),
    });
    await using program = new Program(url, publisher);
    const saved: Promise<unknown>[] = [];
    const save = (from: number, to: number): void => {
      for (const number of numbers(from, to))
        saved.push(program.save(number, topicOf(queue.route)));
    };

    // Each failure comes while messages are under way.
    save(1, 200);
    await program.seen("delivered", 20);
    proxy.deaf = true; // what is confirmed now, nobody hears
    await realClock.sleep(100);
    proxy.cut();
    proxy.deaf = false;
    await program.confirmed(200);
    save(201, 350);
    await program.seen("delivered", 220);
    await broker.stop();
    await broker.start();
    await program.confirmed(350);
    save(351, 500);
    await program.seen("delivered", 370);
    await broker.kill();
    await broker.start();
    await Promise.all(saved);
    await program.confirmed(500);

    expect(losses.length).toBeGreaterThanOrEqual(3);
    const received = (await queue.take()).map(({ id }) => id);
    const duplicates = received.length - 500;
    console.log(
      `RabbitMQ restarts: ${duplicates} duplicates, events ${JSON.stringify(program.events)}`,
    );
    expect([...new Set(received)].toSorted()).toEqual(numbers(1, 500).map(idOf));
  });

  it("loses nothing when PostgreSQL is unreachable at the start, stops and is killed", async ({
    expect,
  }) => {
    await using server = await PostgresServer.start();
    await migrated(server.url);
    await server.stop();
    const publisher = new FakePublisher(realClock, () => realClock.sleep(20));
    await using program = new Program(server.url, publisher);
    const saved: Promise<number>[] = [];
    const save = (from: number, to: number): void => {
      for (const number of numbers(from, to)) saved.push(program.save(number));
    };

    save(1, 200);
    await program.seen("error", 1);
    await server.start();
    // The others come while messages are under way.
    await program.seen("delivered", 20);
    await server.stop();
    await server.start();
    await program.confirmed(200);
    save(201, 500);
    await program.seen("delivered", 250);
    await server.kill();
    await server.start();
    const failures = (await Promise.all(saved)).reduce((sum, count) => sum + count);
    await program.confirmed(500);

    expect(failures).toBeGreaterThan(0);
    const received = publisher.sent.map(([, number]) => number);
    console.log(
      `PostgreSQL restarts: ${received.length - 500} duplicates, events ${JSON.stringify(program.events)}`,
    );
    expect([...new Set(received)].toSorted((a, b) => a - b)).toEqual(numbers(1, 500));
  });
});
