import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onAbort } from "@holdfast/clock";
import { atUrl, ensureCrd, KubeClient } from "@holdfast/kubernetes";
import { customResourceDefinitions } from "../manifests.ts";
import type { HarnessApi } from "./harness-api.ts";

// The repository's program that builds and starts a real API server.
const SERVER = fileURLToPath(
  new URL("../../../../../../services/apiserver/serve.mjs", import.meta.url),
);

interface Ready {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  readonly kubeconfig: string;
  readonly version: string;
}

/** A process that runs an API server with its etcd. It exits when this process does. */
class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (problem: string | undefined) => void>();
  #calls = 0;

  constructor() {
    // Its own process group keeps Ctrl-C away from the server, which must stop last.
    this.#child = fork(SERVER, [], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
  }

  async ready(): Promise<Ready> {
    const [message] = (await Promise.race([
      once(this.#child, "message"),
      once(this.#child, "exit").then(() => [undefined]),
    ])) as [Ready | undefined];
    if (message === undefined)
      throw new Error("could not start a real API server: see the output above");
    this.#child.on("message", ({ id, problem }: { id: number; problem?: string }) => {
      this.#waiting.get(id)?.(problem);
      this.#waiting.delete(id);
    });
    return message;
  }

  async call(method: "kill" | "startApi" | "compact"): Promise<void> {
    const id = ++this.#calls;
    const problem = await new Promise<string | undefined>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.send({ id, method });
    });
    if (problem !== undefined) throw new Error(problem);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, "exit");
    if (this.#child.connected) this.#child.disconnect();
    await exited;
  }
}

/** Starts a real API server with etcd on 127.0.0.1. The first call builds it, which takes minutes. */
export async function startRealServer(signal: AbortSignal): Promise<HarnessApi> {
  const server = new ServerProcess();
  const giveUp = onAbort(signal, () => void server[Symbol.asyncDispose]());
  const { url, ca, token, kubeconfig, version } = await server.ready();
  giveUp[Symbol.dispose]();
  const transport = atUrl(url, { ca, token: () => token });
  const client = new KubeClient({ transport });
  for (const definition of customResourceDefinitions()) await ensureCrd(client, definition);
  return {
    name: `a real API server, ${version}`,
    namespace: "default",
    transport,
    client,
    access: { kind: "url", url, ca, token },
    kubectl: `--kubeconfig ${kubeconfig}`,
    control: {
      stop: async () => await server.call("kill"),
      start: async () => await server.call("startApi"),
      compact: async () => {
        await server.call("compact");
        // The restart drops the server's watch cache, which survives a compaction of etcd.
        await server.call("kill");
        await server.call("startApi");
      },
    },
    [Symbol.asyncDispose]: async () => await server[Symbol.asyncDispose](),
  };
}
