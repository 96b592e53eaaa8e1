import { silentLogger } from "@holdfast/controller";
import { atUrl, runOperator } from "@holdfast/kubernetes";
import { dnsSync } from "../operator/dns-sync.ts";

// One replica. In a cluster, operator/dns-sync.ts runs by itself.

const { API_URL = "", API_CA, API_TOKEN, IDENTITY } = process.env;
const { DNS_PROVIDER_URL = "", DNS_PROVIDER_QPS, SHARDS } = process.env;
const token = API_TOKEN === undefined ? undefined : () => API_TOKEN;
/** Shorter than the defaults, so that a hand-over takes seconds. */
const leases = {
  namespace: "default",
  leaseDuration: 8_000,
  renewDeadline: 6_000,
  retryPeriod: 500,
};

// Ends with the program that started it.
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));

await runOperator({
  name: "dns-sync",
  identity: IDENTITY,
  transport: atUrl(API_URL, { ca: API_CA, token }),
  setup: dnsSync(DNS_PROVIDER_URL, { qps: Number(DNS_PROVIDER_QPS) }),
  ...(SHARDS === undefined
    ? { leaderElection: leases }
    : { shards: { count: Number(SHARDS), ...leases } }),
  health: false,
  signals: process,
  logger: silentLogger,
});
if (process.connected) process.disconnect();
