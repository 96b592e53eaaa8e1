import { customResource, validating } from "@holdfast/kubernetes";
import { z } from "zod";

/** A kind whose second version is converted, for `webhook-replica.mjs` and its tests. */
export const Tasks = customResource({
  group: "replicas.holdfast.test",
  kind: "Task",
  plural: "tasks",
  versions: {
    v1: { spec: z.object({ at: z.string() }) },
    v2: { spec: z.object({ minute: z.string() }) },
  },
  storage: "v1",
  hub: "v2",
  convert: {
    v1: {
      toHub: ({ spec: { at } }) => ({ spec: { minute: at } }),
      fromHub: ({ spec: { minute } }) => ({ spec: { at: minute } }),
    },
  },
});

export const check = validating(Tasks.v1, { handle: () => [], timeoutSeconds: 10 });
