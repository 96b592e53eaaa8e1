import { defined, type JsonObject } from "../object/json.ts";
import type { ApiResponse } from "./api-response.ts";
import { byPriority, type ServedResource } from "./resource/served-resource.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const STATUS_VERBS = ["get", "patch", "update"];

/** The response to a path at which no resource is: the documents by which clients learn the resources. */
export function discover(
  segments: readonly string[],
  served: readonly ServedResource[],
): ApiResponse | undefined {
  const path = segments.join("/");
  if (["healthz", "livez", "readyz"].includes(path)) return { status: 200, text: "ok" };
  const json = documentAt(segments, served);
  return json && { status: 200, json };
}

function documentAt(
  [root, group, version, ...more]: readonly string[],
  served: readonly ServedResource[],
): JsonObject | undefined {
  if (more.length > 0) return undefined;
  switch (root) {
    case "version":
      return group === undefined ? VERSION : undefined;
    case "api":
      if (group === undefined) return CORE_VERSIONS;
      return version === undefined ? resourceList(group, served) : undefined;
    case "apis":
      if (group === undefined) return groupList(served);
      if (version === undefined) return groupDocument(group, served);
      return resourceList(`${group}/${version}`, served);
    default:
      return undefined;
  }
}

const CORE_VERSIONS: JsonObject = {
  kind: "APIVersions",
  versions: ["v1"],
  serverAddressByClientCIDRs: [],
};

const VERSION: JsonObject = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0",
  gitCommit: "",
  gitTreeState: "clean",
  buildDate: "2026-04-22T00:00:00Z",
  goVersion: "go1.26",
  compiler: "gc",
  platform: "linux/amd64",
};

function groupList(served: readonly ServedResource[]): JsonObject {
  const names = new Set(served.map(({ group }) => group).filter((group) => group !== ""));
  return { kind: "APIGroupList", groups: [...names].sort().map((name) => groupOf(name, served)) };
}

function groupDocument(name: string, served: readonly ServedResource[]): JsonObject | undefined {
  if (name === "" || !served.some(({ group }) => group === name)) return undefined;
  return { kind: "APIGroup", apiVersion: "v1", ...groupOf(name, served) };
}

function groupOf(name: string, served: readonly ServedResource[]): JsonObject {
  const own = served.filter(({ group }) => group === name);
  const versions = [...new Set(own.map(({ version }) => version))]
    .sort(byPriority)
    .map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions, preferredVersion: versions[0] };
}

function resourceList(
  groupVersion: string,
  served: readonly ServedResource[],
): JsonObject | undefined {
  const own = served.filter(({ apiVersion }) => apiVersion === groupVersion);
  if (own.length === 0) return undefined;
  return {
    kind: "APIResourceList",
    ...(groupVersion !== "v1" && { apiVersion: "v1" }),
    groupVersion,
    resources: own.flatMap(entriesOf),
  };
}

function entriesOf(served: ServedResource): JsonObject[] {
  const { plural, singular, isNamespaced: namespaced, kind, isBuiltIn } = served;
  const entry = defined({
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    // A custom resource names them in another order.
    verbs: isBuiltIn ? VERBS : CUSTOM_VERBS,
    shortNames: served.shortNames.length > 0 ? served.shortNames : undefined,
    categories: served.categories.length > 0 ? served.categories : undefined,
  });
  const status = {
    name: `${plural}/status`,
    singularName: "",
    namespaced,
    kind,
    verbs: STATUS_VERBS,
  };
  const scale = {
    ...status,
    name: `${plural}/scale`,
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
  };
  return [entry, ...(served.hasStatus ? [status] : []), ...(served.scale ? [scale] : [])];
}

const CUSTOM_VERBS = [
  "delete",
  "deletecollection",
  "get",
  "list",
  "patch",
  "create",
  "update",
  "watch",
];
