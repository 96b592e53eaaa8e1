import { builtIn, ensureCrd, fromKubectl, isApiError, KubeClient } from "@holdfast/kubernetes";
import { customResourceDefinitions } from "../manifests.ts";
import type { HarnessApi } from "./harness-api.ts";

const Namespace = builtIn("v1", "Namespace");
const NAMESPACE = "dns-sync-demo";

/** The cluster of kubectl's current context. The run has its own namespace. */
export async function openCluster(): Promise<HarnessApi> {
  const transport = fromKubectl();
  const client = new KubeClient({ transport });
  for (const definition of customResourceDefinitions()) await ensureCrd(client, definition);
  try {
    await client.create(Namespace, { metadata: { name: NAMESPACE } });
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
  return {
    name: transport.description,
    namespace: NAMESPACE,
    transport,
    client,
    access: { kind: "kubectl" },
    kubectl: `--namespace ${NAMESPACE}`,
    control: undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
