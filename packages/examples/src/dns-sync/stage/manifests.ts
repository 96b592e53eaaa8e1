import { readFileSync } from "node:fs";
import { fromCrd, type Resource } from "@holdfast/kubernetes";
import { parseAllDocuments } from "yaml";

// The manifests are beside the sources, and not copied to dist.
const MANIFESTS = new URL("../../../src/dns-sync/deploy/crds.yaml", import.meta.url);

/** The CustomResourceDefinitions of the operator. */
export function customResourceDefinitions(): object[] {
  const documents = parseAllDocuments(readFileSync(MANIFESTS, "utf8"));
  return documents.map((document) => document.toJS() as object);
}

/** The resources of the definitions, with their schemas. */
export function definedResources(): Resource[] {
  return customResourceDefinitions().map((definition) => fromCrd(definition));
}
