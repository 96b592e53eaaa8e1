import { customResource } from "@holdfast/kubernetes";
import { z } from "zod";

export const __RESOURCE__ = customResource({
  apiVersion: "__GROUP__/v1",
  kind: "__KIND__",
  plural: "__PLURAL__",
  spec: z.object({ text: z.string().min(1).max(1_000) }),
  status: z.object({ configMap: z.string().optional() }),
  conditions: true,
  columns: [{ name: "ConfigMap", path: ".status.configMap" }],
});
