import { aborted } from "@holdfast/clock";
import type { Logger, Runnable } from "@holdfast/controller";
import { callSafely } from "@holdfast/kit";
import { isApiError } from "../client/api-error.ts";
import type { KubeClient } from "../client/kube-client.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { builtIn } from "../object/built-in.ts";
import type { KubeObject } from "../object/kube-object.ts";
import type { Resource } from "../object/resource.ts";
import { crdDifferences } from "./crd-differences.ts";

const Crd = builtIn<KubeObject & { spec: object }>(
  "apiextensions.k8s.io/v1",
  "CustomResourceDefinition",
);

/** The parts of an operator that a comparison of its definitions needs. */
interface CrdCheckParts {
  readonly cluster: Cluster;
  readonly client: KubeClient;
  readonly logger: Logger;
}

/**
 * Compares the manifests of the resources that an operator watches with those of the server, once. It holds up nothing and
 * fails nothing: without the right, or without an answer, a line for debugging says so.
 */
export function crdCheck(parts: CrdCheckParts): Runnable {
  return {
    name: "definitions",
    async run(signal) {
      for (const resource of parts.cluster.definedResources()) {
        await compare(resource, parts, signal);
      }
      await aborted(signal);
    },
  };
}

async function compare(
  { plural, apiVersion, crd }: Resource & { readonly crd: object },
  { cluster, client, logger }: CrdCheckParts,
  signal: AbortSignal,
): Promise<void> {
  const name = `${plural}.${apiVersion.split("/")[0]}`;
  const log = (level: "debug" | "warn", details: object, message: string): void =>
    callSafely(() => logger[level]({ crd: name, ...details }, message));
  try {
    const served = await client.find(Crd, name, { signal });
    const differences =
      served === undefined ? ["the server does not have it"] : crdDifferences(crd, served);
    cluster.setCrdDifferences(name, differences);
    if (differences.length > 0)
      log(
        "warn",
        { differences },
        "CustomResourceDefinition of the server differs from that of this operator; apply its manifest",
      );
  } catch (err) {
    if (signal.aborted) return;
    const message = isApiError(err, "Forbidden")
      ? "CustomResourceDefinition not compared: the role lacks get on customresourcedefinitions"
      : "CustomResourceDefinition not compared";
    log("debug", { err }, message);
  }
}
