import { Manager, silentLogger } from "@holdfast/controller";
import { Outbox, type OutboxEvent, Recovery, Relay } from "@holdfast/outbox";
import { RabbitPublisher } from "@holdfast/outbox/rabbitmq";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import { loadDialect } from "../database/load-dialect.ts";
import { openLock } from "../open-lock.ts";
import { SENDER } from "../order.ts";
import { ROUTE } from "../receiver/rabbit-inbox.ts";
import { crasher } from "./crash-point.ts";
import { CrashingPublisher } from "./crashing-publisher.ts";
import { crashingStore } from "./crashing-store.ts";
import { placeOrder } from "./place-order.ts";
import type { PlaceOrder, Report } from "./report.ts";
import { parseWorkerOptions } from "./worker-options.ts";

/** The maximum number of connections of a worker. */
const CONNECTIONS = 4;

/** Short, so that the demo shows how other workers take over from a killed one. Milliseconds. */
const RELAY = {
  workers: 8,
  publishTimeout: 1_500,
  claimDuration: 8_000,
  clockSkew: 4_000, // the clock is the same, but a busy machine lets processes stand still
  pollInterval: 500,
  storeTimeout: 5_000,
  listen: false, // Every process that saves has a relay.
};
const RECONNECT = { duration: 100, factor: 2, cap: 2_000, jitter: 0.2 };
const RECOVERY = { interval: 1_000, acquireTimeout: 2_000, leaseDuration: 6_000, minRound: 500 };

const options = parseWorkerOptions(process.argv[2] ?? "");
const { name, databaseUrl, target, redisUrl } = options;
const dialect = await loadDialect(options.database);
const reach = crasher(options.crash);
const tell = (report: Report): void => {
  if (process.connected) process.send?.(report, () => undefined);
};
const onEvent = (event: OutboxEvent): void => tell({ type: "event", kind: event.type });

const onError = (error: unknown): void => tell({ type: "error", text: `${error}` });

await using opened = dialect.open(databaseUrl, CONNECTIONS);
await using sender = target.startsWith("amqp")
  ? new RabbitPublisher({ url: target, route: () => ROUTE, backoff: RECONNECT, onError })
  : new WebhookPublisher({ url: target, headers: { [SENDER]: name } });
await using lease = openLock(opened.lock, redisUrl, onError);
const store = crashingStore(opened.store, reach);
const publisher = new CrashingPublisher(sender, reach);

// The parent shows the events.
const reporting = { onEvent, logger: silentLogger };
const relay = new Relay({ ...RELAY, ...reporting, name, store, publisher });
const recovery = new Recovery({
  ...RECOVERY,
  ...reporting,
  name: `${name}/recovery`,
  store,
  lock: lease.lock,
});
const outbox = new Outbox({
  store,
  transaction: async (work) => {
    const value = await opened.database.transaction(work);
    reach("after-commit");
    return value;
  },
  onCommitted: () => relay.wake(),
});

const stop = new AbortController();
// The parent is gone or has disconnected, perhaps before this line.
process.once("disconnect", () => stop.abort());
if (!process.connected) stop.abort();
process.on("message", ({ order }: PlaceOrder) => {
  void placeOrder(order, outbox, { dialect, reach, signal: stop.signal }).then(
    () => tell({ type: "placed", order }),
    () => undefined, // Told to stop: another one places it.
  );
});

const manager = new Manager({ signals: process });
manager.add(relay);
manager.add(recovery);
tell({ type: "ready" });
await manager.run(stop.signal);
if (process.connected) process.disconnect();
