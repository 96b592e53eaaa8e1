import type { KubeRequest } from "@holdfast/kubernetes";
import { methodNotAllowed, noSuchResource, notFound, notImplemented } from "../failure.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { Attributes } from "../rights.ts";
import type { ApiCall } from "./api-call.ts";

/** The path and the query of a request, taken apart. */
export interface ParsedPath {
  /** Parts of the path, decoded. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** @returns undefined for a path that is not encoded correctly */
export function parsePath(path: string): ParsedPath | undefined {
  const mark = path.indexOf("?");
  const plain = mark === -1 ? path : path.slice(0, mark);
  const query = new URLSearchParams(mark === -1 ? "" : path.slice(mark + 1));
  try {
    const segments = plain.split("/").filter((segment) => segment !== "");
    return { segments: segments.map((segment) => decodeURIComponent(segment)), query };
  } catch {
    return undefined;
  }
}

/** The parts of a path below `/api` or `/apis`. */
interface Place {
  readonly group: string | undefined;
  readonly version: string | undefined;
  readonly namespace: string | undefined;
  readonly plural: string;

  /** Empty for a collection. */
  readonly name: string;
  readonly subresource: string | undefined;

  /** Whether `watch/` precedes the resource: the older form of `?watch=true`. */
  readonly isWatch: boolean;
}

/**
 * The resource and the object that a request is about.
 *
 * @returns undefined if no resource is served there
 * @throws Failure for a method that the resource does not have
 */
export function routeOf(
  request: KubeRequest,
  { segments, query }: ParsedPath,
  served: readonly ServedResource[],
): ApiCall | undefined {
  const place = placeOf(segments);
  if (place === undefined) return undefined;
  const found = served.find((one) => isServedAt(one, place));
  if (found === undefined) return refuse(place, served, adviceOn(segments, served));
  if (found.isBuiltIn && found.kind.endsWith("Review"))
    throw notImplemented(`FakeApi does not answer a ${found.kind}`);
  const { namespace, name, subresource, isWatch } = place;
  const { headers, body } = request;
  const call = { served: found, namespace, name, subresource, query, headers, body };
  if (isWatch && request.method === "GET")
    return { ...call, verb: "watch", name: "", query: watchQuery(query, name) };
  if (isMissingPath(request.method, found, namespace)) return undefined;
  const verb = verbFor(request.method, found, place, query);
  if (verb === undefined) throw methodNotAllowed(request.method, found, place);
  return { ...call, verb };
}

/** Whether a server has the path for reads alone: that of a custom resource in all namespaces. */
function isMissingPath(
  method: string,
  { isBuiltIn, isNamespaced }: ServedResource,
  namespace: string | undefined,
): boolean {
  const isOfAll = isNamespaced && namespace === undefined;
  return isOfAll && !isBuiltIn && method !== "GET" && method !== "HEAD";
}

/** The query of a watch of one object, in its older form. */
function watchQuery(query: URLSearchParams, name: string): URLSearchParams {
  const given = new URLSearchParams(query);
  given.set("watch", "true");
  if (name !== "") given.set("fieldSelector", `metadata.name=${name}`);
  return given;
}

const OBJECT_VERBS: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};
const COLLECTION_VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({ ...OBJECT_VERBS, GET: "list", HEAD: "list", DELETE: "deletecollection" }),
);

/** A request as the rules of roles see it, whether or not anything is at its path. */
export function attributesOf(request: KubeRequest, { segments, query }: ParsedPath): Attributes {
  const path = request.path.split("?")[0] as string;
  const place = placeOf(segments);
  const objectVerb = OBJECT_VERBS[request.method] ?? "";
  if (place === undefined || place.plural === "") return { ...NO_RESOURCE, verb: objectVerb, path };
  const { group = "", namespace, plural, name, subresource, isWatch } = place;
  const about = { group, plural, subresource, path };
  if (isWatch) return { ...about, namespace, verb: "watch", name };
  if (name === "") return { ...about, namespace, ...collectionVerb(request.method, query) };
  // An object `namespaces/x` is in the namespace x.
  const isNamespace = plural === "namespaces" && group === "";
  return { ...about, verb: objectVerb, namespace: isNamespace ? name : namespace, name };
}

function collectionVerb(method: string, query: URLSearchParams): { verb: string; name: string } {
  const found = COLLECTION_VERBS.get(method) ?? "";
  const verb = found === "list" && isTrue(query.get("watch")) ? "watch" : found;
  return { verb, name: verb === "create" ? "" : selectedName(query) };
}

const NO_RESOURCE = {
  group: "",
  plural: "",
  subresource: undefined,
  namespace: undefined,
  name: "",
};

/** The one name that a list, a watch or a delete of a collection selects. */
function selectedName(query: URLSearchParams): string {
  return /^metadata\.name==?([^,]+)$/.exec(query.get("fieldSelector") ?? "")?.[1] ?? "";
}

/** What to do about a path of a kind, or of a group, that no resource has. Empty for other paths. */
export function adviceOn(segments: readonly string[], served: readonly ServedResource[]): string {
  const { group, version, plural = "" } = partsOf(segments) ?? {};
  if (group === undefined) return "";
  const isServed = (one: ServedResource): boolean =>
    one.group === group &&
    [undefined, one.version].includes(version) &&
    ["", one.plural].includes(plural);
  if (served.some(isServed)) return "";
  const apiVersion = [group, version].filter(Boolean).join("/");
  const kinds = served.map(({ kind, apiVersion }) => `${kind} of ${apiVersion}`);
  const known = kinds.length === 0 ? "is empty" : `has ${[...new Set(kinds)].join(", ")}`;
  return `FakeApi does not serve ${plural || "anything"} of ${apiVersion}: add the kind to options.resources, which ${known}`;
}

function placeOf(segments: readonly string[]): Place | undefined {
  const place = partsOf(segments);
  return place?.isDeeper ? undefined : place;
}

/** A place, and whether the path goes on below the subresource: to a port of a Pod, for example. */
function partsOf([root, ...rest]: readonly string[]): (Place & { isDeeper: boolean }) | undefined {
  if (root !== "api" && root !== "apis") return undefined;
  const [group, version, ...parts] = root === "apis" ? rest : ["", ...rest];
  const isWatch = parts[0] === "watch";
  const below = isWatch ? parts.slice(1) : parts;
  const namespace = isNamespacePart(below) ? below[1] : undefined;
  const [plural = "", name = "", subresource, ...more] =
    namespace === undefined ? below : below.slice(2);
  const isDeeper = more.length > 0;
  return { group, version, namespace, plural, name, subresource, isWatch, isDeeper };
}

/** `namespaces/x/plural`, but not an object of the resource `namespaces` or its status. */
function isNamespacePart([first, , third]: readonly string[]): boolean {
  return first === "namespaces" && third !== undefined && third !== "status";
}

/** Subresources of built-in resources, besides the status, that Kubernetes has. */
const SUBRESOURCES: Readonly<Record<string, string>> = {
  certificatesigningrequests: "approval",
  deployments: "scale",
  namespaces: "finalize",
  nodes: "proxy",
  pods: "attach binding ephemeralcontainers eviction exec log portforward proxy resize",
  replicasets: "scale",
  replicationcontrollers: "scale",
  serviceaccounts: "token",
  services: "proxy",
  statefulsets: "scale",
};

/**
 * Refuses a path at which nothing is.
 *
 * @throws Failure if the server has the group, or the resource without the subresource; 501 for one that FakeApi lacks
 */
function refuse(place: Place, served: readonly ServedResource[], advice: string): undefined {
  if (place.plural === "") return undefined;
  const owner = served.find((one) => isServedAt(one, { ...place, subresource: undefined }));
  if (owner !== undefined && !owner.isBuiltIn) throw notFound(owner, place.name);
  const { plural, subresource = "" } = place;
  if (owner !== undefined && SUBRESOURCES[plural]?.split(" ").includes(subresource))
    throw notImplemented(`FakeApi does not have the subresource ${subresource} of ${plural}`);
  const isKnown = ({ group, version, isBuiltIn }: ServedResource): boolean =>
    isBuiltIn && group === place.group && version === place.version;
  if (served.some(isKnown)) throw noSuchResource(advice);
  return undefined;
}

function isServedAt(served: ServedResource, place: Place): boolean {
  const { group, version, plural, namespace, name, subresource } = place;
  if (served.plural !== plural || served.group !== group || served.version !== version)
    return false;
  const hasNamespace = namespace !== undefined;
  if (hasNamespace ? !served.isNamespaced : served.isNamespaced && name !== "") return false;
  if (subresource === "scale") return served.scale !== undefined;
  return subresource === undefined || (subresource === "status" && served.hasStatus);
}

/** The verb of a method, or undefined if the resource does not have it at this place. */
function verbFor(
  method: string,
  { isBuiltIn, isNamespaced }: ServedResource,
  place: Place,
  query: URLSearchParams,
): ApiCall["verb"] | undefined {
  const verb = verbOf(method === "HEAD" && !isBuiltIn ? "GET" : method, place, query);
  if (verb !== "create" && verb !== "deletecollection") return verb;
  if (isNamespaced && place.namespace === undefined) return undefined;
  return verb === "create" && isBuiltIn && place.name !== "" ? undefined : verb;
}

function verbOf(
  method: string,
  { name, subresource }: Place,
  query: URLSearchParams,
): ApiCall["verb"] | undefined {
  const isObject = name !== "";
  switch (method) {
    case "GET":
      if (isObject) return "get";
      return isTrue(query.get("watch")) ? "watch" : "list";
    case "POST":
      return subresource === undefined ? "create" : undefined;
    case "PUT":
      return isObject ? "update" : undefined;
    case "PATCH":
      return isObject ? "patch" : undefined;
    case "DELETE":
      if (subresource !== undefined) return undefined;
      return isObject ? "delete" : "deletecollection";
    default:
      return undefined;
  }
}

/** Whether a parameter of a query is set. */
export function isTrue(value: string | null): boolean {
  return value !== null && !["false", "0"].includes(value.toLowerCase());
}
