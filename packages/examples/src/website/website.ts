import { pathToFileURL } from "node:url";
import { realClock } from "@holdfast/clock";
import type { ReconcileResult } from "@holdfast/controller";
import {
  type ApplyInput,
  type CachedObject,
  type ConditionUpdate,
  finalize,
  fromKubectl,
  generationChanged,
  inCluster,
  isApiError,
  type KubeObject,
  type ObjectOf,
  type OperatorSetup,
  ownConditions,
  ownerOf,
  type Resource,
  runOperator,
} from "@holdfast/kubernetes";
import {
  childOf,
  configMapOf,
  deploymentOf,
  ingressOf,
  LABELS,
  type Site,
  serviceOf,
} from "./children.ts";
import { type Dns, dnsAt } from "./dns.ts";
import { ConfigMap, Deployment, Ingress, Service, Website } from "./resources.ts";

/** The conditions of this operator. Others may have theirs in the same list. */
const CONDITIONS = ["Available", "Published"];

/** Serves Websites, and keeps a record of each at a DNS provider that points to the ingress at `target`. */
export function websites(dns: Dns, target: string): OperatorSetup {
  return ({ cluster, client, controller, clock, events }) => {
    const sites = cluster.watch(Website);
    const [configMaps, services, deployments, ingresses] = [
      child(ConfigMap, configMapOf),
      child(Service, serviceOf),
      child(Deployment, deploymentOf),
      child(Ingress, ingressOf),
    ] as const;
    // The ConfigMap first: its hash is in the Deployment.
    const children = [configMaps, services, deployments, ingresses];

    /** The children of one kind. The name may be that of a foreign object, which is left alone. */
    function child<T extends KubeObject>(
      resource: Resource<T>,
      make: (site: Site) => ApplyInput<T>,
    ) {
      const informer = cluster.watch(resource, { labels: LABELS });
      return {
        kind: resource.kind,
        get: (site: Site) => informer.get(childOf(site)),
        source: () => informer.source({ to: ownerOf(Website) }),
        async apply(site: Site, signal: AbortSignal): Promise<void> {
          const cached = informer.get(childOf(site));
          await client.apply(resource, make(site), { owned: true, cached, signal });
        },
      };
    }

    async function serve(site: Site, signal: AbortSignal): Promise<ReconcileResult> {
      const { name, namespace, uid, generation: observedGeneration } = site.metadata;
      const { host } = site.spec;
      const before = site.status?.conditions;
      let conditions = before;
      const report = async (update: ConditionUpdate): Promise<void> => {
        const own = CONDITIONS.map((type) =>
          type === update.type ? { ...update, observedGeneration } : type,
        );
        conditions = ownConditions(conditions, own, clock);
        const status = { url: `http://${host}`, conditions };
        const options = { subresource: "status", cached: sites.get(site.metadata), signal };
        await client.apply(Website, { metadata: { name, namespace }, status }, options);
      };

      for (const one of children) {
        try {
          await one.apply(site, signal);
        } catch (error) {
          if (!isApiError(error, "AlreadyExists")) throw error;
          const message = `${childOf(site).name} is a ${one.kind} of another owner`;
          const [type, reason] = ["Available", "NameTaken"] as const;
          await report({ type, status: "False", reason, message });
          events.record(site, { type: "Warning", reason, action: "Apply", note: message });
          return { requeueAfter: 60_000 };
        }
      }
      await report(availability(site));

      await dns.put(uid, { host, target }, signal);
      const message = `${host} points to ${target}`;
      const [type, reason] = ["Published", "RecordPut"] as const;
      await report({ type, status: "True", reason, message });
      const old = before?.find((condition) => condition.type === type);
      if (old?.message !== message) events.record(site, { reason, action: "Put", note: message });
      return undefined;
    }

    function availability(site: Site): ConditionUpdate {
      const available = availablePods(deployments.get(site));
      const isAvailable = available >= site.spec.replicas;
      return {
        type: "Available",
        status: isAvailable ? "True" : "False",
        reason: isAvailable ? "Serving" : "Rolling",
        message: `${available} of ${site.spec.replicas} Pods are available`,
      };
    }

    return () => [
      controller({
        name: "website",
        workers: 4,
        timeout: 30_000,
        failureEvents: sites,
        sources: [
          sites.source({ when: generationChanged }),
          ...children.map((one) => one.source()),
        ],
        async reconcile({ key, signal }) {
          const site = sites.get(key);
          if (site === undefined) return undefined;
          // The server deletes the children of a deleted object, and nobody the record outside.
          return await finalize(client, Website, site, {
            finalizer: "example.org/dns",
            apply: (one) => serve(one, signal),
            cleanup: ({ metadata }) => dns.delete(metadata.uid, signal),
            signal,
          });
        },
      }),
    ];
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  await runOperator({
    name: "website",
    transport: process.env["KUBERNETES_SERVICE_HOST"] ? inCluster() : fromKubectl(),
    setup: websites(
      dnsAt(process.env["DNS_URL"] ?? "http://127.0.0.1:8053", realClock),
      process.env["INGRESS_HOST"] ?? "ingress.example.org",
    ),
    health: { port: Number(process.env["PORT"] ?? 8_080) },
    signals: process,
  });

/** Pods of the spec that was just applied: the cache has it, and the status that others wrote. */
function availablePods(deployment: CachedObject<ObjectOf<typeof Deployment>> | undefined): number {
  const { observedGeneration = 0, availableReplicas = 0 } = deployment?.status ?? {};
  return observedGeneration >= (deployment?.metadata.generation ?? 1) ? availableReplicas : 0;
}
