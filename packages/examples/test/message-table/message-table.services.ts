import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { poll } from "@holdfast/wait";
import { connect } from "amqplib";
import { Redis } from "ioredis";
import { createPool, type RowDataPacket } from "mysql2/promise";
import { expect, it, onTestFinished } from "vitest";
import { makeMySqlDatabase } from "../../../../test/make-mysql-database.ts";
import { requiredUrl } from "../../../../test/required-url.ts";
import { Program } from "../program.ts";

it("saves with the order, publishes after the commit, and retries after 10 s until the broker has a place", async () => {
  const urls = { AMQP_URL: requiredUrl("AMQP_URL"), REDIS_URL: requiredUrl("REDIS_URL") };
  const MYSQL_URL = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  const pool = createPool(MYSQL_URL);
  await pool.query("CREATE TABLE orders (number INT PRIMARY KEY)");
  // The second order 1 fails, and with it its message.
  const program = new Program("message-table/main.js", ["1", "1", "2"], [], { ...urls, MYSQL_URL });
  const [, first] = await program.printed(/order 1: (\S{36})\n/);
  await program.printed(/order 1: Duplicate entry .*\n/);
  const [, second] = await program.printed(/order 2: (\S{36})\n/);
  const rows = async (status: string): Promise<readonly RowDataPacket[]> => {
    const text = "SELECT * FROM outbox_message WHERE status = ? ORDER BY sequence";
    const [found] = await pool.query<RowDataPacket[]>(text, [status]);
    return found;
  };
  // There is no exchange yet: the first attempt of both fails.
  await poll(async () => (await rows("retrying")).length === 2, { backoff: { duration: 100 } });
  for (const row of await rows("retrying")) {
    expect(row).toMatchObject({ failed_attempts: 1, max_attempts: 12, initial_delay: 10_000 });
    expect(row).toMatchObject({
      factor: 2,
      last_error: expect.stringContaining("UnroutableError"),
    });
    const delay = Number(row["due_at"]) - Number(row["updated_at"]);
    expect(delay).toBeGreaterThanOrEqual(10_000);
    expect(delay).toBeLessThanOrEqual(11_001);
  }
  const connection = await connect(urls.AMQP_URL);
  const channel = await connection.createChannel();
  const queue = `message-table-${randomUUID()}`;
  await channel.assertExchange("shop", "topic", { durable: true });
  await channel.assertQueue(queue, { durable: true });
  await channel.bindQueue(queue, "shop", "orders.*");
  await poll(async () => (await rows("delivered")).length === 2, { backoff: { duration: 100 } });
  const received: unknown[] = [];
  for (let left = 2; left > 0; left--) {
    const message = await channel.get(queue, { noAck: true });
    if (message === false) break;
    const { messageId: id, type } = message.properties;
    received.push({ id, type, payload: JSON.parse(message.content.toString()) });
  }
  expect(received).toHaveLength(2);
  for (const [id, order] of [
    [first, 1],
    [second, 2],
  ])
    expect(received).toContainEqual({ id, type: "orders.placed", payload: { order } });
  await channel.deleteQueue(queue);
  await channel.deleteExchange("shop");
  await connection.close();
  program.child.kill("SIGTERM");
  expect(await program.exited).toBe(0);
  expect(await rows("delivered")).toHaveLength(2);
  await pool.end();
});

/** How long a process may wait for a lock that Redis gives once it has been up for 300 s, and for a claim to expire. */
const COMPENSATED = { backoff: { duration: 500 }, timeout: 600_000 };

it("makes a message due whose relay was killed, under the lock of 300 s", async () => {
  const REDIS_URL = requiredUrl("REDIS_URL");
  const MYSQL_URL = await makeMySqlDatabase(requiredUrl("MYSQL_URL"));
  const pool = createPool(MYSQL_URL);
  const redis = new Redis(REDIS_URL);
  onTestFinished(async () => {
    redis.disconnect();
    await pool.end();
  });
  await pool.query("CREATE TABLE orders (number INT PRIMARY KEY)");
  const message = async (): Promise<RowDataPacket | undefined> => {
    const [rows] = await pool.query<RowDataPacket[]>("SELECT * FROM outbox_message");
    return rows[0];
  };
  // A broker that never answers: the relay dies within its attempt.
  const silent = createServer((socket) => socket.on("error", () => undefined).resume());
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { port: number };
  const urls = { MYSQL_URL, REDIS_URL };
  const AMQP_URL = `amqp://127.0.0.1:${port}`;
  const victim = new Program("message-table/main.js", ["1"], [], { ...urls, AMQP_URL });
  await victim.printed(/order 1: \S{36}\n/);
  await poll(async () => typeof (await message())?.["claimed_by"] === "string", {
    backoff: { duration: 100 },
  });
  victim.child.kill("SIGKILL");
  await victim.exited;

  const connection = await connect(requiredUrl("AMQP_URL"));
  const channel = await connection.createChannel();
  await channel.assertExchange("shop", "topic", { durable: true });
  const { queue } = await channel.assertQueue("", { exclusive: true });
  await channel.bindQueue(queue, "shop", "orders.*");
  const next = { ...urls, AMQP_URL: requiredUrl("AMQP_URL") };
  const program = new Program("message-table/main.js", [], [], next);
  await poll(async () => (await message())?.["status"] === "delivered", COMPENSATED);
  expect(await message()).toMatchObject({ failed_attempts: 0, expired_claims: 1 });
  expect(JSON.parse((await redis.hget("shop/outbox", "record")) ?? "")).toMatchObject({
    leaseDuration: 300_000,
  });
  expect((await channel.get(queue, { noAck: true })) || {}).toMatchObject({
    properties: { type: "orders.placed" },
  });
  program.child.kill("SIGTERM");
  expect(await program.exited).toBe(0);
  await channel.deleteExchange("shop");
  await connection.close();
}, 700_000);
