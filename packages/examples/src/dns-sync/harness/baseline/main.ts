// A sync without a controller: the official client's informer, and a handler with a retry loop.

import { realClock } from "@holdfast/clock";
import { every } from "@holdfast/wait";
import {
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
} from "@kubernetes/client-node";
import type { Item, Zone } from "../../operator/resources.ts";
import type { BaselineOptions, BaselineReport } from "./baseline-report.ts";

type Watched = KubernetesObject & Pick<Item, "spec">;

const GROUP = { group: "dns.example.org", version: "v1" };
const ATTEMPTS = 3;
const PAUSE = 1_000;
const PERIOD = 250;

const options = JSON.parse(process.argv[2] ?? "{}") as BaselineOptions;
const { access, namespace, providerUrl } = options;
const config = new KubeConfig();
if (access.kind === "kubectl") config.loadFromDefault();
else {
  const { url: server, token, ca } = access;
  const caData = ca && Buffer.from(ca).toString("base64");
  config.loadFromClusterAndUser(
    { name: "harness", server, skipTLSVerify: ca === undefined, ...(caData && { caData }) },
    { name: "baseline", ...(token && { token }) },
  );
}
const custom = config.makeApiClient(CustomObjectsApi);
const report = { events: 0, version: 0, failures: 0, running: 0, errors: 0, lastError: "" };

const path = `/apis/dns.example.org/v1/namespaces/${namespace}/dnsrecords`;
const list = () => custom.listNamespacedCustomObject({ ...GROUP, namespace, plural: "dnsrecords" });
const informer = makeInformer<Watched>(config, path, list);

async function write(method: "PUT" | "DELETE", record: Watched): Promise<void> {
  const { zone, host, type, value, ttl } = record.spec;
  const found = { ...GROUP, namespace, plural: "dnszones", name: zone };
  const { spec } = (await custom.getNamespacedCustomObject(found)) as Zone;
  const name = `${host}.${spec.domain}`;
  const remote = { name, type, value, ttl: `${ttl ?? spec.ttl}`, owner: `${record.metadata?.uid}` };
  const response = await fetch(`${providerUrl}/records?${new URLSearchParams(remote)}`, { method });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
}

async function handle(method: "PUT" | "DELETE", record: Watched): Promise<void> {
  report.events += 1;
  report.version = Math.max(report.version, Number(record.metadata?.resourceVersion));
  report.running += 1;
  for (let attempt = 1; ; attempt++) {
    try {
      await write(method, record);
      break;
    } catch {
      if (attempt === ATTEMPTS) {
        report.failures += 1;
        break;
      }
      await realClock.sleep(PAUSE);
    }
  }
  report.running -= 1;
}

informer.on("add", (record) => void handle("PUT", record));
informer.on("update", (record) => void handle("PUT", record));
informer.on("delete", (record) => void handle("DELETE", record));
informer.on("error", (error: unknown) => {
  report.errors += 1;
  report.lastError = String(error);
});

process.once("disconnect", () => process.exit(0));
process.once("SIGTERM", () => process.exit(0));
await informer.start();
for await (const _ of every(PERIOD)) process.send?.(report satisfies BaselineReport);
