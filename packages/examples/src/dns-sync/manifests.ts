import { readFileSync } from "node:fs";
import { fromCrd, type Resource } from "@holdfast/kubernetes";
import { parseAllDocuments } from "yaml";

// The build does not copy the manifests to dist.
const MANIFESTS = new URL("../../src/dns-sync/deploy/crds.yaml", import.meta.url);

/** The CustomResourceDefinitions of the operator. */
export function customResourceDefinitions(): object[] {
  const documents = parseAllDocuments(readFileSync(MANIFESTS, "utf8"));
  return documents.map((document) => document.toJS() as object);
}

/** The custom resources of the operator, with their schemas. */
export function definedResources(): Resource[] {
  return customResourceDefinitions().map((definition) => fromCrd(definition));
}
