import { type Kind, kind, requireArray } from "@holdfast/clock/internal";
import type { Resource } from "@holdfast/kubernetes";
import { requireResource } from "@holdfast/kubernetes/internal";

export const anyResource: Kind = kind("anyResource", (path, resource: Resource) =>
  requireResource(resource, path),
);

export const resourceList: Kind = kind("resourceList", (path, resources: readonly Resource[]) => {
  requireArray(path, resources);
  for (const [index, one] of resources.entries()) requireResource(one, `${path}[${index}]`);
});

export const array: Kind = kind("array", requireArray);
