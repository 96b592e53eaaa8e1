import { builtIn, customResource, type Resource } from "@holdfast/kubernetes";
import type { Deployment as DeploymentObject } from "kubernetes-types/apps/v1.js";
import type {
  ConfigMap as ConfigMapObject,
  Service as ServiceObject,
} from "kubernetes-types/core/v1.js";
import type { Ingress as IngressObject } from "kubernetes-types/networking/v1.js";
import { z } from "zod";

/** A page, and the name under which it is served. */
export const Website = customResource({
  apiVersion: "example.org/v1",
  kind: "Website",
  plural: "websites",
  spec: z.object({
    host: z.string().min(1).max(253).describe("Name of the site, as in www.example.org"),
    page: z.string().max(100_000).describe("The page, as HTML"),
    replicas: z.int().min(0).max(100).default(2),
    image: z.string().default("nginxinc/nginx-unprivileged:1.29"),
  }),
  status: z.object({ url: z.string().optional() }),
  conditions: true,
  rules: [
    {
      // The name of a Service has a prefix before it, and must be a label of DNS.
      rule: "self.metadata.name.matches('^[a-z0-9-]{1,55}$')",
      message: "the name must have at most 55 characters, and no dots",
    },
  ],
  columns: [
    { name: "Host", path: ".spec.host" },
    { name: "Available", path: '.status.conditions[?(@.type=="Available")].status' },
    { name: "Published", path: '.status.conditions[?(@.type=="Published")].status' },
  ],
});

export const ConfigMap: Resource<ConfigMapObject> = builtIn<ConfigMapObject>("v1", "ConfigMap");
export const Service: Resource<ServiceObject> = builtIn<ServiceObject>("v1", "Service");
export const Deployment: Resource<DeploymentObject> = builtIn<DeploymentObject>(
  "apps/v1",
  "Deployment",
);
export const Ingress: Resource<IngressObject> = builtIn<IngressObject>(
  "networking.k8s.io/v1",
  "Ingress",
);
