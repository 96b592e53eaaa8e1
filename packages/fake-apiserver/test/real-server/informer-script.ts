import type { KubernetesObject } from "@kubernetes/client-node";
import { CustomObjectsApi, KubeConfig, makeInformer } from "@kubernetes/client-node";

const WIDGETS = { group: "conformance.example.org", version: "v1", plural: "widgets" };

/**
 * Follows Widgets with the informer of `@kubernetes/client-node` while another client of that package changes
 * them. Returns the events that the informer reported, and what it had cached at the end.
 */
export async function informerScript(kubeconfig: object, namespace: string): Promise<string[]> {
  const config = new KubeConfig();
  config.loadFromString(JSON.stringify(kubeconfig));
  const api = config.makeApiClient(CustomObjectsApi);
  const where = { ...WIDGETS, namespace };
  const list = async () => await api.listNamespacedCustomObject(where);
  const path = `/apis/${WIDGETS.group}/v1/namespaces/${namespace}/widgets`;
  const informer = makeInformer<KubernetesObject>(config, path, list);

  const seen: string[] = [];
  const waiting: { event: string; resolve: () => void }[] = [];
  const report = (event: string) => {
    seen.push(event);
    for (const one of waiting) if (one.event === event) one.resolve();
  };
  const reported = (event: string) =>
    new Promise<void>((resolve) => waiting.push({ event, resolve }));
  for (const verb of ["add", "update", "delete"] as const)
    informer.on(verb, (object: KubernetesObject & { spec?: { color?: string } }) =>
      report(`${verb} ${object.metadata?.name} ${object.spec?.color}`),
    );
  informer.on("error", (error) => report(`error ${String(error)}`));

  const widget = (name: string, color: string) => ({
    apiVersion: `${WIDGETS.group}/v1`,
    kind: "Widget",
    metadata: { name },
    spec: { color },
  });
  const change = async (event: string, work: () => Promise<unknown>) => {
    const told = reported(event);
    await work();
    await told;
  };
  await api.createNamespacedCustomObject({ ...where, body: widget("old", "red") });
  await informer.start();
  await change("add new green", () =>
    api.createNamespacedCustomObject({ ...where, body: widget("new", "green") }),
  );
  await change("update new blue", async () => {
    const found = await api.getNamespacedCustomObject({ ...where, name: "new" });
    const body = { ...found, spec: { ...found.spec, color: "blue" } };
    await api.replaceNamespacedCustomObject({ ...where, name: "new", body });
  });
  await change("delete old red", () => api.deleteNamespacedCustomObject({ ...where, name: "old" }));
  const cached = informer.list().map(({ metadata }) => metadata?.name);
  informer.off("error", report);
  seen.push(`cached ${cached.join(",")}`);
  const before = [...seen];
  await informer.stop();
  return before;
}
