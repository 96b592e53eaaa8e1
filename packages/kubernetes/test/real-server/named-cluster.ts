import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { silentLogger } from "@holdfast/controller";
import { builtIn, fromKubectl, KubeClient, type KubeTransport } from "@holdfast/kubernetes";

const Namespace = builtIn("v1", "Namespace");
const run = promisify(execFile);

/** The cluster that KUBECONFIG names: our API server or another one. Has a namespace of its own until disposed. */
export class NamedCluster implements AsyncDisposable {
  readonly namespace: string = `holdfast-${randomUUID().slice(0, 8)}`;
  readonly transport: KubeTransport;
  readonly client: KubeClient;
  readonly #kubectl = process.env["HOLDFAST_KUBECTL"] ?? "kubectl";

  private constructor() {
    this.transport = fromKubectl({ kubectl: this.#kubectl, logger: silentLogger });
    this.client = new KubeClient({ transport: this.transport, logger: silentLogger });
  }

  static async open(): Promise<NamedCluster> {
    const cluster = new NamedCluster();
    await cluster.client.create(Namespace, { metadata: { name: cluster.namespace } });
    return cluster;
  }

  /** Runs kubectl. Resolves with its output. */
  async kubectl(...args: string[]): Promise<string> {
    return (await run(this.#kubectl, args)).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.delete(Namespace, this.namespace);
    await this.transport.closeIdle?.();
  }
}
