import { connect } from "amqplib";
import { Redis } from "ioredis";
import { loadDialect } from "./database/load-dialect.ts";
import { DATABASE_VARIABLES, type Services } from "./settings.ts";

/** Maximum time of a server to respond, in milliseconds. */
const VISIT_TIMEOUT = 5_000;

async function visitRabbit(url: string): Promise<void> {
  const connection = await connect(url, { timeout: VISIT_TIMEOUT });
  await connection.close();
}

async function visitRedis(url: string): Promise<void> {
  const limits = {
    connectTimeout: VISIT_TIMEOUT,
    commandTimeout: VISIT_TIMEOUT,
    maxRetriesPerRequest: 0,
  };
  const redis = new Redis(url, { ...limits, lazyConnect: true, retryStrategy: () => null });
  let cause: Error | undefined;
  redis.on("error", (error) => {
    cause ??= error; // `connect` only says that the connection is closed.
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw cause ?? error;
  } finally {
    if (redis.status !== "end") redis.disconnect();
  }
}

/** A URL without user and password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return url.slice(url.lastIndexOf("@") + 1);
  const { protocol, host, pathname } = new URL(url);
  return host === ""
    ? `${protocol}${pathname.slice(pathname.lastIndexOf("@") + 1)}`
    : `${protocol}//${host}${pathname}`;
}

/** Messages of the operating system repeat their arguments, which may be secret, so they are left out. */
function reasonOf(error: unknown): string {
  const { syscall, code, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return `${syscall} ${code}`;
  return message === "" ? `${code}` : message.replace(/\.$/, "");
}

/** Example URLs for the message about a missing one. */
const EXAMPLES = {
  postgres: "postgres://postgres@127.0.0.1/postgres",
  mysql: "mysql://root@127.0.0.1/",
} as const;

/**
 * The first service that cannot be used, with the next step.
 *
 * Checked at the start only: later the program waits for an unreachable server.
 */
export async function serviceProblem(services: Services): Promise<string | undefined> {
  const { database, databaseUrl, amqpUrl, redisUrl } = services;
  const variable = DATABASE_VARIABLES[database];
  if (variable !== undefined && databaseUrl === undefined && database !== "pglite")
    return `--database ${database} needs ${variable}. Start a server and set ${variable}=${EXAMPLES[database]}, or use --database pglite.`;
  const { visit } = await loadDialect(database);
  const visits = [
    [variable, databaseUrl, (url: string) => visit(url, VISIT_TIMEOUT)],
    ["AMQP_URL", amqpUrl, visitRabbit],
    ["REDIS_URL", redisUrl, visitRedis],
  ] as const;
  for (const [name, url, visitServer] of visits) {
    try {
      if (url !== undefined) await visitServer(url);
    } catch (error) {
      const problem = `${name}: ${placeOf(url ?? "")} cannot be used: ${reasonOf(error)}.`;
      return `${problem} Start it, correct ${name} or unset it.`;
    }
  }
  return undefined;
}
