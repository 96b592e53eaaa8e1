import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onAbort, realClock } from "@holdfast/clock";
import { FakeApi } from "@holdfast/fake-apiserver";
import { atUrl, builtIn, ensureCrd, KubeClient, type KubeTransport } from "@holdfast/kubernetes";
import { customResourceDefinitions, definedResources } from "./manifests.ts";

/** The API server of a run. */
export interface Api extends AsyncDisposable {
  readonly name: string;
  readonly transport: KubeTransport;
  /** Arguments for kubectl. */
  readonly kubectl: string;
  /** Environment of the replicas. */
  readonly access: {
    readonly API_URL: string;
    readonly API_CA?: string;
    readonly API_TOKEN?: string;
  };
}

/** Starts an API server in memory. Replicas use it over HTTP. */
export async function startFakeApi(): Promise<Api> {
  const others = [
    builtIn("v1", "Namespace"),
    builtIn("events.k8s.io/v1", "Event"),
    builtIn("coordination.k8s.io/v1", "Lease"),
  ];
  const api = new FakeApi({
    clock: realClock,
    resources: [...definedResources(), ...others],
    keptRequests: 100,
  });
  const listener = await api.listen();
  const { url } = listener;
  return {
    name: "the fake API server",
    transport: api.transport,
    kubectl: `--server ${url}`,
    access: { API_URL: url },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

// The repository's program that builds and starts a real API server.
const SERVER = fileURLToPath(new URL("../../../../services/apiserver/serve.mjs", import.meta.url));

interface Ready {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly kubeconfig: string;
  readonly version: string;
}

/** Starts a real API server with etcd on 127.0.0.1. The first call builds it, which takes minutes. */
export async function startRealApi(signal: AbortSignal): Promise<Api> {
  // Its own process group keeps Ctrl-C away from the server, which must stop last. It ends with this process.
  const child = fork(SERVER, [], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  const exited = once(child, "exit");
  using _ = onAbort(signal, () => child.disconnect());
  const ready = once(child, "message").then(([message]) => message as Ready);
  const started = await Promise.race([ready, exited.then(() => undefined)]);
  if (started === undefined)
    throw new Error("could not start a real API server: see the output above");
  const { url, ca, token, kubeconfig, version } = started;
  const transport = atUrl(url, { ca, token: () => token });
  const client = new KubeClient({ transport });
  for (const definition of customResourceDefinitions()) await ensureCrd(client, definition);
  return {
    name: `a real API server, ${version}`,
    transport,
    kubectl: `--kubeconfig ${kubeconfig}`,
    access: { API_URL: url, API_CA: ca, API_TOKEN: token },
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
