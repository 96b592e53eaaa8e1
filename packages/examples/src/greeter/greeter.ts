import { pathToFileURL } from "node:url";
import type { Runnable } from "@holdfast/controller";
import {
  builtIn,
  customResource,
  fromKubectl,
  generationChanged,
  inCluster,
  isApiError,
  type KubeObject,
  type OperatorContext,
  ownConditions,
  ownerOf,
  ownerReference,
  type Resource,
  runOperator,
  type StatusCondition,
} from "@holdfast/kubernetes";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";

interface GreetingObject extends KubeObject {
  spec: { name: string };
  status?: { text?: string; conditions?: readonly StatusCondition[] };
}

export const Greeting: Resource<GreetingObject> = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
export const ConfigMap: Resource<ConfigMapObject> = builtIn<ConfigMapObject>("v1", "ConfigMap");

export function greeter(context: OperatorContext): () => Runnable[] {
  const { cluster, client, controller, clock } = context;
  const greetings = cluster.watch(Greeting);
  const texts = cluster.watch(ConfigMap, { labels: { app: "greeter" } });
  return () => [
    controller({
      name: "greeter",
      workers: 4,
      timeout: 30_000,
      sources: [
        greetings.source({ when: generationChanged }),
        texts.source({ to: ownerOf(Greeting) }),
      ],
      async reconcile({ key, signal }) {
        const greeting = greetings.get(key);
        // The server deletes the ConfigMap of a deleted object.
        if (greeting === undefined || greeting.metadata.deletionTimestamp !== undefined)
          return undefined;
        const { name, namespace } = greeting.metadata;
        const text = `Hello, ${greeting.spec.name}!`;
        const child = {
          name: `greeting-${name}`,
          namespace,
          labels: { app: "greeter" },
          ownerReferences: [ownerReference(Greeting, greeting)],
        };
        const report = async (status: GreetingObject["status"]) =>
          await client.apply(
            Greeting,
            { metadata: { name, namespace }, status },
            { subresource: "status", cached: greeting, signal },
          );
        try {
          await client.apply(
            ConfigMap,
            { metadata: child, data: { text } },
            { owned: true, cached: texts.get({ name: child.name, namespace }), signal },
          );
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
          await report({ conditions: ownConditions(greeting.status?.conditions, [taken], clock) });
          return { requeueAfter: 60_000 };
        }
        await report({ text });
        return undefined;
      },
    }),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await runOperator({
    name: "greeter",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: greeter,
    health: { port: Number(process.env["PORT"] ?? 8_080) },
    signals: process,
  });
