import { pathToFileURL } from "node:url";
import {
  builtIn,
  fromKubectl,
  generationChanged,
  inCluster,
  isApiError,
  type KubeObject,
  type ObjectOf,
  type OperatorContext,
  ownConditions,
  ownerOf,
  ownerReference,
  runOperator,
} from "@holdfast/kubernetes";
import { prometheusMetrics } from "@holdfast/kubernetes/prometheus";
import { collectDefaultMetrics, Registry } from "prom-client";
import { __RESOURCE__ } from "./resource.ts";

interface ConfigMapObject extends KubeObject {
  data?: { [key: string]: string };
}
export const ConfigMap = builtIn<ConfigMapObject>("v1", "ConfigMap");

/** Keeps a ConfigMap with the text of each __KIND__. */
export function operator({ cluster, client, controller, clock }: OperatorContext) {
  const objects = cluster.watch(__RESOURCE__);
  const maps = cluster.watch(ConfigMap, { labels: { app: "__NAME__" } });
  return () => [
    controller({
      name: "__SINGULAR__",
      timeout: 30_000,
      sources: [
        objects.source({ when: generationChanged }),
        maps.source({ to: ownerOf(__RESOURCE__) }),
      ],
      async reconcile({ key, signal }) {
        const object = objects.get(key);
        // The server deletes the ConfigMap of a deleted object.
        if (object === undefined || object.metadata.deletionTimestamp !== undefined)
          return undefined;
        const { name, namespace } = object.metadata;
        const child = {
          name: `__SINGULAR__-${name}`,
          namespace,
          labels: { app: "__NAME__" },
          ownerReferences: [ownerReference(__RESOURCE__, object)],
        };
        const report = async (status: ObjectOf<typeof __RESOURCE__>["status"]) =>
          await client.apply(
            __RESOURCE__,
            { metadata: { name, namespace }, status },
            { subresource: "status", signal },
          );
        const map = { metadata: child, data: { text: object.spec.text } };
        try {
          await client.apply(ConfigMap, map, { owned: true, signal });
        } catch (error) {
          if (!isApiError(error, "AlreadyExists")) throw error;
          // Somebody else has a ConfigMap of this name.
          const message = `${child.name} is a ConfigMap of another owner`;
          const taken = {
            type: "NameTaken",
            status: "True",
            reason: "NameTaken",
            message,
          } as const;
          const conditions = ownConditions(object.status?.conditions, [taken], clock);
          await report({ conditions });
          return { requeueAfter: 60_000 };
        }
        await report({ configMap: child.name });
        return undefined;
      },
    }),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const register = new Registry();
  collectDefaultMetrics({ register }); // memory, CPU, the event loop
  await runOperator({
    name: "__NAME__",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: operator,
    health: {
      port: Number(process.env["PORT"] ?? 8_080),
      metrics: () => register.metrics(),
    },
    compareCrds: true,
    metrics: prometheusMetrics({ register }),
    signals: process,
  });
}
