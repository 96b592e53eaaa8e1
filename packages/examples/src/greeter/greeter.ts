import { pathToFileURL } from "node:url";
import { consoleLogger, type Runnable } from "@holdfast/controller";
import {
  builtIn,
  customResource,
  fromKubectl,
  generationChanged,
  inCluster,
  type KubeObject,
  type OperatorContext,
  ownerOf,
  ownerReference,
  type Resource,
  runOperator,
} from "@holdfast/kubernetes";
import type { ConfigMap as ConfigMapObject } from "kubernetes-types/core/v1.js";

interface GreetingObject extends KubeObject {
  spec: { name: string };
  status?: { text: string };
}

export const Greeting: Resource<GreetingObject> = customResource<GreetingObject>({
  apiVersion: "example.org/v1",
  kind: "Greeting",
  plural: "greetings",
});
export const ConfigMap: Resource<ConfigMapObject> = builtIn<ConfigMapObject>("v1", "ConfigMap");

export function greeter({ cluster, client, controller }: OperatorContext): () => Runnable[] {
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
        if (greeting === undefined || greeting.metadata.deletionTimestamp !== undefined) return;
        const { name, namespace } = greeting.metadata;
        const text = `Hello, ${greeting.spec.name}!`;
        const ownerReferences = [ownerReference(Greeting, greeting)];
        const metadata = { name, namespace, labels: { app: "greeter" }, ownerReferences };
        await client.apply(ConfigMap, { metadata, data: { text } }, { signal });
        const status = { metadata: { name, namespace }, status: { text } };
        await client.apply(Greeting, status, { subresource: "status", signal });
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
    logger: consoleLogger,
  });
