import { type Kind, kind, requireArray, requireFunction, requireOptions } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { Resource, Webhook } from "@holdfast/kubernetes";

export const anyResource: Kind = kind("anyResource", (path, resource: Resource) =>
  requireResource(resource, path),
);

export const resourceList: Kind = kind("resourceList", (path, resources: readonly Resource[]) => {
  requireArray(path, resources);
  for (const [index, one] of resources.entries()) requireResource(one, `${path}[${index}]`);
});

export const webhookList: Kind = kind("webhookList", (path, webhooks: readonly Webhook[]) => {
  requireArray(path, webhooks);
  for (const [index, hook] of webhooks.entries()) {
    requireOptions(`${path}[${index}]`, hook);
    requireOptions(`${path}[${index}].configuration`, hook.configuration);
    requireFunction(`${path}[${index}].review`, hook.review);
  }
});

export const array: Kind = kind("array", requireArray);
