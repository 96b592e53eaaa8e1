import { pathToFileURL } from "node:url";
import { consoleLogger } from "@holdfast/controller";
import {
  builtIn,
  fromKubectl,
  generationChanged,
  inCluster,
  type KubeObject,
  type OperatorContext,
  ownerOf,
  ownerReference,
  runOperator,
} from "@holdfast/kubernetes";
import { __KIND__ } from "./resource.ts";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}
export const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");

/** Keeps a ConfigMap with the text of each __KIND__. */
export function operator({ cluster, client, controller }: OperatorContext) {
  const objects = cluster.watch(__KIND__);
  const maps = cluster.watch(ConfigMap, { labels: { app: "__NAME__" } });
  return () => [
    controller({
      name: "__SINGULAR__",
      timeout: 30_000,
      sources: [
        objects.source({ when: generationChanged }),
        maps.source({ to: ownerOf(__KIND__) }),
      ],
      async reconcile({ key, signal }) {
        const object = objects.get(key);
        // The server deletes the ConfigMap of a deleted object.
        if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
        const { name, namespace } = object.metadata;
        const labels = { app: "__NAME__" };
        const metadata = {
          name,
          namespace,
          labels,
          ownerReferences: [ownerReference(__KIND__, object)],
        };
        await client.apply(ConfigMap, { metadata, data: { text: object.spec.text } }, { signal });
        const status = { metadata: { name, namespace }, status: { configMap: name } };
        await client.apply(__KIND__, status, { subresource: "status", signal });
      },
    }),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await runOperator({
    name: "__NAME__",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: operator,
    health: { port: Number(process.env["PORT"] ?? 8_080) },
    signals: process,
    logger: { ...consoleLogger, debug() {} },
  });
