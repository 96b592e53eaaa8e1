import { onAbort } from "@holdfast/clock";
import { Manager } from "@holdfast/controller";
import { Redis } from "ioredis";
import pg from "pg";
import { Compensation } from "../../compensation/compensation.ts";
import { PgDatabase } from "../../database/pg-database.ts";
import { PostgresLock } from "../../lock/postgres-lock.ts";
import { RedisLock } from "../../lock/redis-lock.ts";
import { Outbox } from "../../outbox.ts";
import { RabbitPublisher } from "../../publish/rabbit-publisher.ts";
import { WebhookPublisher } from "../../publish/webhook-publisher.ts";
import { Relay } from "../../relay/relay.ts";
import type { RelayEvent } from "../../relay/relay-event.ts";
import { crasher } from "./crash-point.ts";
import { CrashingPublisher } from "./crashing-publisher.ts";
import { CrashingStore } from "./crashing-store.ts";
import { placeOrder } from "./place-order.ts";
import type { PlaceOrder, Report } from "./report.ts";
import { parseWorkerOptions } from "./worker-options.ts";

/** Short, so that what a killed worker leaves behind is seen to be picked up. Milliseconds. */
const RELAY = {
  workers: 8,
  publishTimeout: 1_500,
  claimLength: 6_000,
  clockSkew: 0,
  pollPeriod: 500,
  storeTimeout: 5_000,
};
const COMPENSATION = { period: 1_000, patience: 2_000, lease: 6_000, hold: 500 };

const options = parseWorkerOptions(process.argv[2] ?? "");
const { name, databaseUrl, webhookUrl, amqpUrl, redisUrl } = options;
const reach = crasher(options.crash);
const tell = (report: Report): void => void process.send?.(report);
const onEvent = (event: RelayEvent): void =>
  tell({ type: "event", kind: event.type, text: textOf(event) });

await using database = new PgDatabase(new pg.Pool({ connectionString: databaseUrl, max: 4 }));
await using sender =
  amqpUrl === undefined
    ? new WebhookPublisher({ url: webhookUrl })
    : new RabbitPublisher({ url: amqpUrl });
const redis = redisUrl === undefined ? undefined : new Redis(redisUrl);
const store = new CrashingStore(database, reach);
const publisher = new CrashingPublisher(sender, reach);
const lock =
  redis === undefined
    ? new PostgresLock(database, "compensation")
    : new RedisLock(redis, { key: "outbox:compensation" });

const relay = new Relay({ ...RELAY, name, store, publisher, onEvent });
const compensation = new Compensation({ ...COMPENSATION, name, store, lock, onEvent });
const outbox = new Outbox({
  store,
  transaction: async (work) => {
    const value = await database.transaction(work);
    reach("after-commit");
    return value;
  },
  onCommitted: (ids) => relay.saved(ids),
});

const stop = new AbortController();
// Who started this is gone, or does not need it any more.
process.once("disconnect", () => stop.abort());
process.on("message", ({ order }: PlaceOrder) => {
  void placeOrder(order, outbox, { reach, signal: stop.signal }).then(
    () => tell({ type: "placed", order }),
    () => undefined, // Told to stop: another one places it.
  );
});

const manager = new Manager({ signals: process });
manager.add(relay);
manager.add(compensation);
tell({ type: "ready" });
using _ = onAbort(stop.signal, () => redis?.disconnect());
await manager.run(stop.signal);
if (process.connected) process.disconnect();

function textOf(event: RelayEvent): string | undefined {
  switch (event.type) {
    case "failed":
    case "dead":
    case "orphan":
      return event.failure.error;
    case "unwritten":
    case "error":
      return `${event.error}`;
    case "broken":
      return event.broken.problem;
    case "published":
    case "released":
    case "lost":
      return undefined;
  }
}
