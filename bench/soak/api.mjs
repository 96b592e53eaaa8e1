// A real API server for a run, and the faults that happen to it.
import { silentLogger } from "@holdfast/controller";
import { atUrl, KubeClient } from "@holdfast/kubernetes";
import { poll } from "@holdfast/wait";
import { ApiServer } from "../../services/apiserver.mjs";
import { pause } from "./program.mjs";

/** Time within which anything has to happen, in milliseconds: the server may be away, and the machine busy. */
export const PATIENCE = 300_000;

/** Asks until something is true. Errors of a server that is away do not count. */
export const eventually = async (condition) =>
  await poll(condition, {
    backoff: { duration: 50, factor: 1.5, cap: 1_000 },
    timeout: PATIENCE,
    onError: () => undefined,
  });

/** Repeats a write until the server has taken it. */
export const insist = async (write) => await eventually(() => write().then(() => true));

export async function startApi(signal, keep) {
  const server = await ApiServer.start(signal);
  keep(server);
  const { url, ca, adminToken } = server;
  const transport = atUrl(url, { ca, token: () => adminToken, logger: silentLogger });
  const start = () => insist(() => server.startApi());
  const compact = () => server.compact();
  const SIGKILL = () => server.kill().then(start);
  const SIGTERM = () => server.stopApi().then(start);
  const away = () =>
    server
      .kill()
      .then(() => pause(60_000, signal))
      .then(start);
  return {
    server,
    client: new KubeClient({ transport, logger: silentLogger }),
    env: { API_URL: url, API_CA: ca, API_TOKEN: adminToken },
    faults: {
      ...{ SIGKILL, SIGTERM, compact, defragment: () => server.defragment(), "60 s away": away },
      "compact, SIGKILL": () => compact().then(SIGKILL),
      "compact, SIGTERM": () => compact().then(SIGTERM),
    },
  };
}

/** In the process: the way to the server, which counts requests, and those that failed. */
export function countingTransport(counts) {
  const { API_URL = "", API_CA, API_TOKEN = "" } = process.env;
  const network = atUrl(API_URL, { ca: API_CA, token: () => API_TOKEN });
  return {
    description: network.description,
    closeIdle: () => network.closeIdle(),
    async send(...request) {
      counts.requests++;
      return await network.send(...request).catch((error) => {
        counts.failed++;
        throw error;
      });
    },
  };
}

/** In the process: lists and watches of a cluster. */
export function askedBy(cluster) {
  const reflectors = cluster?.status().informers.flatMap((informer) => informer.reflectors) ?? [];
  const sum = (name) => reflectors.reduce((all, one) => all + one[name], 0);
  return { lists: sum("lists"), watches: sum("watches") };
}

/** What a process has asked, in words. */
export const asked = ({ lists, watches, requests, failed }) =>
  `${lists} lists, ${watches} watches, ${requests} requests, of which ${failed} failed`;
