// Starts a server of ../services, prints its URL or the path of its kubeconfig, and stops it at the end of its input.
const KINDS = {
  postgres: async () => (await import("../services/postgres.mjs")).PostgresServer,
  mariadb: async () => (await import("../services/mariadb.mjs")).MariaServer,
  redis: async () => (await import("../services/redis.mjs")).RedisServer,
  nats: async () => (await import("../services/nats.mjs")).NatsServer,
  apiserver: async () => (await import("../services/apiserver.mjs")).ApiServer,
  rabbitmq: async () => (await import("../services/rabbitmq.mjs")).RabbitServer,
};
const kind = process.argv[2];
const Server = await KINDS[kind]();
const server = await Server.start(new AbortController().signal);
console.log(server.kubeconfig ?? server.url);
for await (const _ of process.stdin);
await server[Symbol.asyncDispose]();
