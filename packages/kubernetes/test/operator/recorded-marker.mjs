// An operator that writes a text to each ConfigMap.
import { builtIn } from "@holdfast/kubernetes";

const ConfigMap = builtIn("v1", "ConfigMap");

/** @type {import("@holdfast/kubernetes").OperatorSetup} */
export const setup = ({ cluster, client, controller }) => {
  const maps = cluster.watch(ConfigMap);
  return () => [
    controller({
      name: "marker",
      sources: [maps.source()],
      async reconcile({ key, signal }) {
        if (maps.get(key)?.["data"]?.["text"] !== undefined) return;
        await client.patch(ConfigMap, key, { data: { text: "seen" } }, { signal });
      },
    }),
  ];
};
