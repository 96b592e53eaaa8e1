// A bad argument is named with its value, but for one that may be a secret: a token where a function belongs, an address
// with a password where a pool belongs.
import { MySqlLock } from "@holdfast/controller/mysql-lock";
import { PostgresLock } from "@holdfast/controller/postgres-lock";
import { RedisLock } from "@holdfast/controller/redis-lock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { atUrl, Cluster, fromKubeConfig, KubeClient, runOperator } from "@holdfast/kubernetes";
import * as mysql from "@holdfast/outbox/mysql";
import * as postgres from "@holdfast/outbox/postgres";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { WebhookPublisher, WebhookVerifier } from "@holdfast/outbox/webhook";
import { expectOk, retry } from "@holdfast/wait";
import { describe, expect, it } from "vitest";

const SECRET = "hunter2-of-the-night";
const ADDRESS = `postgres://ann:${SECRET}@db.test/shop?password=${SECRET}`;
const BROKEN = `postgres//ann:${SECRET}@db.test`;

/** Calls a door with a text where something else belongs. */
const DOORS: { readonly [door: string]: (text: string) => unknown } = {
  "atUrl, the address": (text) => atUrl(text as never),
  "atUrl, the token as options": (text) => atUrl("https://api.test", text as never),
  "atUrl, token": (text) => atUrl("https://api.test", { token: text as never }),
  "atUrl, key": (text) => atUrl("https://api.test", { key: [text] as never, cert: text }),
  "atUrl, impersonate": (text) => atUrl("https://api.test", { impersonate: text as never }),
  fromKubeConfig: (text) => fromKubeConfig(text as never),
  KubeClient: (text) => new KubeClient(text as never),
  "KubeClient, transport": (text) => new KubeClient({ transport: text as never }),
  "Cluster, transport": (text) => new Cluster({ transport: text as never }),
  "runOperator, transport": (text) =>
    runOperator({ name: "a", transport: text as never, setup: () => () => [] }),
  FakeApi: (text) => new FakeApi(text as never),
  PostgresLock: (text) => new PostgresLock(text as never, { name: "a" } as never),
  MySqlLock: (text) => new MySqlLock(text as never, { name: "a" } as never),
  RedisLock: (text) => new RedisLock(text as never, { key: "a" }),
  "RedisLock, options": (text) => new RedisLock({ eval: async () => 1 } as never, text as never),
  PostgresStore: (text) => new postgres.PostgresStore(text as never),
  "PostgresStore, options": (text) => new postgres.PostgresStore({ database: text } as never),
  PgDatabase: (text) => new postgres.PgDatabase(text as never),
  "migrate of PostgreSQL": (text) => postgres.migrate(text as never),
  MySqlStore: (text) => new mysql.MySqlStore(text as never),
  MySql2Database: (text) => new mysql.MySqlDatabase(text as never),
  "migrate of MySQL": (text) => mysql.migrate(text as never),
  RabbitPublisher: (text) => new RabbitPublisher(text as never),
  "RabbitPublisher, url": (text) => new RabbitPublisher({ url: text }),
  WebhookPublisher: (text) => new WebhookPublisher(text as never),
  "WebhookPublisher, url": (text) => new WebhookPublisher({ url: text } as never),
  "WebhookPublisher, secrets": (text) =>
    new WebhookPublisher({ url: "https://api.test", secrets: [text] }),
  WebhookVerifier: (text) => new WebhookVerifier(text as never),
  "WebhookVerifier, secrets": (text) => new WebhookVerifier({ secrets: text }),
  expectOk: (text) => expectOk(text as never),
  retry: (text) => retry(text as never),
};

async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return `${error}\n${(error as Error).cause ?? ""}`;
  }
  return "";
}

describe("an error for a bad argument", () => {
  it.each(Object.entries(DOORS))("of %s has no secret", async (_, call) => {
    const messages = await Promise.all(
      [SECRET, ADDRESS, BROKEN].map((text) => messageOf(() => call(text))),
    );
    expect(messages.some((message) => message !== "")).toBe(true);
    for (const message of messages) expect(message).not.toContain(SECRET);
  });
});
