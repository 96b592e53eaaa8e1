import { type Kind, kind, requireArray } from "@holdfast/kit";
import { requireResource } from "@holdfast/kit/kubernetes";
import type { Resource } from "@holdfast/kubernetes";

export const anyResource: Kind = kind("anyResource", (path, resource: Resource) =>
  requireResource(resource, path),
);

export const resourceList: Kind = kind("resourceList", (path, resources: readonly Resource[]) => {
  requireArray(path, resources);
  for (const [index, one] of resources.entries()) requireResource(one, `${path}[${index}]`);
});

export const array: Kind = kind("array", requireArray);
