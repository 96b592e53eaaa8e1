import { Manager } from "@holdfast/controller";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { MySqlOutbox } from "@holdfast/outbox/mysql";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";

const { MYSQL_URL = "mysql://shop@127.0.0.1/shop", REDIS_URL = "redis://127.0.0.1" } = process.env;
const { AMQP_URL = "amqp://127.0.0.1" } = process.env;

const pool = createPool(MYSQL_URL);
const redis = new Redis(REDIS_URL, { commandTimeout: 3_000, socketTimeout: 5_000 });
const publisher = new RabbitPublisher({
  url: AMQP_URL,
  route: ({ topic }) => ({ exchange: "shop", routingKey: topic }),
});
const outbox = new MySqlOutbox({
  name: "shop",
  pool,
  publisher, // right after the commit
  lock: new RedisLock(redis, { key: "shop/outbox" }), // every 10 s: waits for it for 5 s, holds it for 300 s
  maxAttempts: 12, // max_retry_times
  backoff: { duration: 10_000, factor: 2 }, // init_backoff, backoff_factor
});
await outbox.migrate();

/** Saves an order and its message, or neither. Returns the id of the message. */
async function placeOrder(number: number): Promise<string> {
  return await outbox.transaction(async (tx) => {
    await tx.query("INSERT INTO orders (number) VALUES (?)", [number]);
    const payload = { order: number };
    const message = { topic: "orders.placed", key: `order/${number}`, payload };
    const { id } = await outbox.save(tx, message);
    return id;
  });
}

const manager = new Manager({ signals: process, stopTimeout: 60_000 });
manager.add(outbox);
const running = manager.run(); // until SIGTERM: attempts in flight end within grace, 20 s

for (const number of process.argv.slice(2).map(Number))
  await placeOrder(number).then(
    (id) => console.log(`order ${number}: ${id}`),
    (error: Error) => console.log(`order ${number}: ${error.message}`),
  );
await running;
await publisher[Symbol.asyncDispose]();
redis.disconnect();
await pool.end();
