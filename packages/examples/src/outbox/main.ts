import { once } from "node:events";
import { createServer } from "node:http";
import { PGlite } from "@electric-sql/pglite";
import { silentLogger } from "@holdfast/controller";
import { PGliteOutbox } from "@holdfast/outbox/pglite";
import { WebhookPublisher } from "@holdfast/outbox/webhook";
import { Command } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";
import { exitForUsage } from "../terminal/exit-for-usage.ts";
import { CREATE_ORDERS, placeOrder } from "./shop.ts";

interface Options {
  readonly orders: number;
  readonly folder?: string;
}

const { orders, folder } = new Command("npm run outbox --")
  .description("Places orders, and sends each to a webhook that fails every third time.")
  .option("--orders <number>", "how many", wholeNumber(1, 1_000), 5)
  .option("--folder <folder>", "keeps the database, a PGlite, for npx @holdfast/outbox")
  .helpOption("--help", "show this help")
  .allowExcessArguments(false)
  .exitOverride(exitForUsage)
  .parse()
  .opts<Options>();

// The receiver: another service, in a real system. It recognizes a message that comes twice by its key.
let requests = 0;
const seen = new Set<unknown>();
const receiver = createServer((request, response) => {
  request.resume();
  const status = ++requests % 3 === 0 ? 500 : 200;
  const key = request.headers["idempotency-key"];
  const isNew = !seen.has(key);
  if (status === 200) seen.add(key);
  console.log(`receiver: ${status}${isNew ? "" : ", known already"}`);
  response.writeHead(status).end();
}).listen(0, "127.0.0.1");
await once(receiver, "listening");
const address = receiver.address();
const port = typeof address === "object" ? address?.port : undefined;

// The shop. On a server: `new PostgresOutbox({ name: "shop", pool, publisher })`.
await using pglite = await PGlite.create(folder);
const stop = new AbortController();
let left = orders;
const outbox = new PGliteOutbox({
  name: "shop",
  pglite,
  publisher: new WebhookPublisher({ url: `http://127.0.0.1:${port}/` }),
  logger: silentLogger,
  onEvent: ({ type }) => {
    if (type === "delivered" && --left === 0) stop.abort();
  },
});
await outbox.migrate();
await pglite.exec(CREATE_ORDERS);
// `once`: a second Ctrl-C ends the process at once.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
const running = outbox.run(stop.signal);
const { rows } = await pglite.query<{ last: number }>(
  "SELECT coalesce(max(number), 0) AS last FROM orders",
);
const last = rows[0]?.last ?? 0;
for (let n = 1; n <= orders; n++) await placeOrder(outbox, { number: last + n, total: 12.5 });
await running;
receiver.close();
receiver.closeAllConnections();
console.log(
  left === 0 ? `${orders} orders, each sent` : `stopped; messages in the outbox: ${left}`,
);
