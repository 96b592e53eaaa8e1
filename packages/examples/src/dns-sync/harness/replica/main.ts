import { realClock } from "@holdfast/clock";
import { atUrl, fromKubectl, type KubeTransport, runOperator } from "@holdfast/kubernetes";
import { every } from "@holdfast/wait";
import { dnsSync } from "../../operator/dns-sync.ts";
import type { ApiAccess } from "../api/harness-api.ts";
import { LEASE } from "../lease.ts";
import { Observer } from "./observer.ts";
import type { CacheQuery, CacheReport, Note, ReplicaOptions, ReplicaReport } from "./report.ts";

const PERIOD = 250;

const options = JSON.parse(process.argv[2] ?? "{}") as ReplicaOptions;
const { name, access, namespace, providerUrl } = options;
const tell = (message: ReplicaReport | CacheReport | Note): void => {
  if (process.connected) process.send?.(message, () => undefined);
};
const observer = new Observer(realClock, (text) => tell({ type: "note", text }));

const stop = new AbortController();
// The parent process exited, possibly before this listener was added.
process.once("disconnect", () => stop.abort());
if (!process.connected) stop.abort();
process.on("message", ({ id }: CacheQuery) =>
  tell({ type: "caches", id, versions: observer.cacheVersions() }),
);

const { logger, metrics } = observer;
const ended = new AbortController();
const reporting = (async () => {
  for await (const _ of every(PERIOD, { signal: ended.signal })) tell(observer.report());
})();
try {
  await runOperator(
    {
      name: "dns-sync",
      identity: name,
      logger,
      metrics,
      health: false,
      transport: transportOf(access),
      setup: observer.around(dnsSync(providerUrl)),
      leaderElection: { namespace, ...LEASE },
      signals: process,
    },
    stop.signal,
  );
} finally {
  ended.abort();
  await reporting.catch(() => undefined);
  if (process.connected) process.disconnect();
}

function transportOf(way: ApiAccess): KubeTransport {
  if (way.kind === "kubectl") return fromKubectl();
  const { url, ca, token } = way;
  return atUrl(url, { ca, token: token === undefined ? undefined : () => token });
}
