import { createHash } from "node:crypto";
import {
  type ApplyInput,
  type CachedObject,
  type ObjectOf,
  ownerReference,
} from "@holdfast/kubernetes";
import {
  type ConfigMap,
  type Deployment,
  type Ingress,
  type Service,
  Website,
} from "./resources.ts";

export type Site = CachedObject<ObjectOf<typeof Website>>;

/** Labels of all children, by which the operator watches them. */
export const LABELS = { "app.kubernetes.io/managed-by": "website" };

const selectorOf = ({ metadata }: Site) => ({ "app.kubernetes.io/instance": metadata.name });

interface ChildName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** Each child of a Website has this name: a prefix keeps it apart from objects that users make. */
export const childOf = ({ metadata: { name, namespace } }: Site): ChildName => ({
  name: `website-${name}`,
  namespace,
});

const metadataOf = (site: Site) => ({
  ...childOf(site),
  labels: { ...LABELS, ...selectorOf(site) },
  ownerReferences: [ownerReference(Website, site)],
});

export const configMapOf = (site: Site): ApplyInput<ObjectOf<typeof ConfigMap>> => ({
  metadata: metadataOf(site),
  data: { "index.html": site.spec.page },
});

export const serviceOf = (site: Site): ApplyInput<ObjectOf<typeof Service>> => ({
  metadata: metadataOf(site),
  spec: { selector: selectorOf(site), ports: [{ port: 80, protocol: "TCP", targetPort: "http" }] },
});

export function deploymentOf(site: Site): ApplyInput<ObjectOf<typeof Deployment>> {
  const { page, replicas, image } = site.spec;
  // A changed page changes the template, so that the Pods roll.
  const hash = createHash("sha256").update(page).digest("hex");
  return {
    metadata: metadataOf(site),
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(site) },
      template: {
        metadata: {
          labels: { ...LABELS, ...selectorOf(site) },
          annotations: { "example.org/page-hash": hash },
        },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
          containers: [
            {
              name: "web",
              image,
              ports: [{ name: "http", containerPort: 8_080, protocol: "TCP" }],
              readinessProbe: { httpGet: { path: "/", port: "http" } },
              securityContext: {
                allowPrivilegeEscalation: false,
                readOnlyRootFilesystem: true,
                capabilities: { drop: ["ALL"] },
              },
              volumeMounts: [
                { name: "page", mountPath: "/usr/share/nginx/html" },
                { name: "tmp", mountPath: "/tmp" },
              ],
            },
          ],
          volumes: [
            { name: "page", configMap: { name: childOf(site).name } },
            { name: "tmp", emptyDir: {} },
          ],
        },
      },
    },
  };
}

export const ingressOf = (site: Site): ApplyInput<ObjectOf<typeof Ingress>> => {
  const backend = { service: { name: childOf(site).name, port: { number: 80 } } };
  const paths = [{ path: "/", pathType: "Prefix", backend }];
  return {
    metadata: metadataOf(site),
    spec: { rules: [{ host: site.spec.host, http: { paths } }] },
  };
};
