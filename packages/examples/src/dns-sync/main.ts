import { realClock } from "@holdfast/clock";
import { silentLogger } from "@holdfast/controller";
import { Cluster } from "@holdfast/kubernetes";
import { seededRandom } from "@holdfast/wait/strategies";
import { Command } from "commander";
import { wholeNumber } from "../terminal/arguments.ts";
import { ending } from "../terminal/ending.ts";
import { exitForUsage } from "../terminal/exit-for-usage.ts";
import { startFakeApi, startRealApi } from "./api.ts";
import { Board } from "./board.ts";
import { DnsRecord, DnsZone } from "./operator/resources.ts";
import { servePage } from "./page.ts";
import { DnsProvider } from "./provider/dns-provider.ts";
import { serveProvider } from "./provider/serve-provider.ts";
import { Replicas } from "./replicas.ts";

interface Options {
  readonly real: boolean;
  readonly records: number;
  readonly shards?: number;
  readonly port: number;
}

const options = new Command("npm run dns-sync --")
  .description("Runs three replicas of an operator that syncs DnsRecord objects to a DNS provider.")
  .option("--real", "use a real API server on this machine; the first start builds it", false)
  .option("--records <number>", "number of records", wholeNumber(1, 10_000), 60)
  .option(
    "--shards <number>",
    "all replicas work, each on its slots of so many",
    wholeNumber(1, 64),
  )
  .option("--port <number>", "port of the page; 0 picks a free port", wholeNumber(0, 65_535), 0)
  .helpOption("--help", "show this help")
  .allowExcessArguments(false)
  .exitOverride(exitForUsage)
  .parse()
  .opts<Options>();

const REPLICAS = 3;
/** Requests per second of one leader, and of each replica that shares the work: together below the provider's quota. */
const QPS = { leader: 100, replica: 30 };
/** Milliseconds. */
const OUTAGE = 6_000;
const PLACE = { namespace: "default" };
const random = seededRandom(1);
const address = (): string => `192.0.2.${1 + Math.floor(random() * 254)}`;

const { stdout } = process;
let kill = (): unknown => undefined;
const host = { clock: realClock, stdout };
using end = ending(host, { duration: Number.POSITIVE_INFINITY, kill: () => void kill() });
const { signal } = end;

await using api = await (options.real ? startRealApi(signal) : startFakeApi());
const provider = new DnsProvider({ clock: realClock, random });
await using server = await serveProvider(provider);
const cluster = new Cluster({ transport: api.transport, logger: silentLogger });
const { client } = cluster;

const { shards } = options;
const env = {
  ...api.access,
  DNS_PROVIDER_URL: server.url,
  DNS_PROVIDER_QPS: `${shards === undefined ? QPS.leader : QPS.replica}`,
  ...(shards === undefined ? {} : { SHARDS: `${shards}` }),
};
const replicas = new Replicas(env, (text) => board.log(text));
const board = new Board({ api: api.name, shards, cluster, replicas, provider });
kill = () => replicas.killAll("SIGKILL");
const running = cluster.run(signal);

async function createRecords(): Promise<void> {
  const web = { metadata: { ...PLACE, name: "web" }, spec: { domain: "example.org", ttl: 10 } };
  await client.apply(DnsZone, web, { signal });
  for (let index = 0; index < options.records; index++) {
    const metadata = { ...PLACE, name: `r${index}` };
    const spec = { zone: "web", host: `r${index}`, type: "A", value: address() };
    await client.apply(DnsRecord, { metadata, spec }, { signal });
  }
}

async function edit(): Promise<void> {
  board.log("every record changed");
  for (let index = 0; index < options.records; index++) {
    const patch = { spec: { value: address() } };
    await client.patch(DnsRecord, { ...PLACE, name: `r${index}` }, patch, { signal });
  }
}

async function outage(): Promise<void> {
  board.log("the provider answers 503");
  provider.fault = "outage";
  await realClock.sleep(OUTAGE, { signal });
  provider.fault = undefined;
  board.log("the provider works again");
}

/** A click has no one to tell: what fails is in the log of the page. */
const started = (work: () => Promise<void>) => (): void =>
  void work().catch((error: unknown) => board.log(String(error)));

try {
  await cluster.ready(signal);
  board.follow(signal);
  await using page = await servePage({
    port: options.port,
    status: board,
    actions: {
      "/add": () => replicas.start(),
      "/stop": (query) => replicas.kill(query.get("name") ?? "", "SIGTERM"),
      "/kill": (query) => replicas.kill(query.get("name") ?? "", "SIGKILL"),
      "/edit": started(edit),
      "/outage": started(outage),
    },
  });
  for (let index = 0; index < REPLICAS; index++) replicas.start();
  stdout.write(`the page: ${page.url}\nkubectl ${api.kubectl} get dnsrecords\n`);
  await createRecords();
  await end.request;
} catch (error) {
  if (!signal.aborted) throw error;
} finally {
  await replicas.killAll("SIGTERM");
  await running;
}
