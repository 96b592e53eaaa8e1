import type { Clock } from "@holdfast/clock";
import { builtIn, type KubeClient, type KubeObject } from "@holdfast/kubernetes";
import { FakeApi } from "@holdfast/kubernetes/testing";
import { every } from "@holdfast/wait";
import { definedResources } from "../manifests.ts";
import type { HarnessApi } from "./harness-api.ts";

interface EventObject extends KubeObject {
  eventTime?: string;
}
const Event = builtIn<EventObject>("events.k8s.io/v1", "Event");

const RESOURCES = [builtIn("v1", "Namespace"), Event, builtIn("coordination.k8s.io/v1", "Lease")];

/** Lifetime of Events and interval of their expiry, in milliseconds. A real server keeps them for an hour. */
const EVENT_LIFE = 300_000;
const EVENT_PERIOD = 30_000;

async function expireEvents(client: KubeClient, clock: Clock, signal: AbortSignal): Promise<void> {
  // A failure, such as a stopped server, is retried in the next period.
  for await (const _ of every(EVENT_PERIOD, { clock, signal }))
    await expireBefore(clock.now() - EVENT_LIFE, client, signal).catch(() => undefined);
}

async function expireBefore(time: number, client: KubeClient, signal: AbortSignal): Promise<void> {
  for await (const { metadata } of client.list(Event, { signal }))
    if (Date.parse(metadata.creationTimestamp) < time)
      await client.delete(Event, metadata, { signal });
}

/** Nothing reads the log of requests. A full one holds 10 MB, which a soak would take for a leak while it fills. */
const KEPT_REQUESTS = 100;

/** Starts the fake API server in this process. Child processes use it over HTTP. */
export async function startFakeApi(clock: Clock): Promise<HarnessApi> {
  const api = new FakeApi({
    clock,
    resources: [...definedResources(), ...RESOURCES],
    keptRequests: KEPT_REQUESTS,
  });
  const listener = await api.listen();
  const end = new AbortController();
  const expiring = expireEvents(api.client, clock, end.signal);
  const restart = async (): Promise<void> => {
    api.stop();
    await api.start({ history: "lost" });
  };
  return {
    name: "the fake API server",
    namespace: "default",
    transport: api.transport,
    client: api.client,
    access: { kind: "url", url: listener.url },
    kubectl: `--server ${listener.url}`,
    control: {
      stop: async () => api.stop(),
      start: async () => await api.start({ history: "lost" }),
      compact: restart,
    },
    [Symbol.asyncDispose]: async () => {
      end.abort();
      await expiring;
      await listener[Symbol.asyncDispose]();
    },
  };
}
