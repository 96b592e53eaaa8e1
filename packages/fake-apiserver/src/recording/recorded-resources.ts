import { builtIn, customResource, type KubeRequest, type Resource } from "@holdfast/kubernetes";
import { isObject, metadataOf, own, parseJson } from "../object/json.ts";
import { itemsOf } from "./history.ts";

const PATH =
  /^\/(?:api|apis\/([^/?]+))\/([^/?]+)\/(?:namespaces\/[^/?]+\/(?!status\b|finalize\b))?([^/?]+)(?:\/([^/?]+))?(\/[^?]+)?/;

/** Whether a path is that of a resource. */
export function isOfResource(path: string): boolean {
  return PATH.test(path);
}

/**
 * The resources that recorded requests name, without schemas.
 *
 * @param requests - requests with the texts of their answers
 */
export function resourcesIn(
  requests: Iterable<readonly [request: KubeRequest, texts: readonly string[]]>,
): Resource[] {
  const found = new Map<string, Resource>();
  for (const [{ path, body = "" }, texts] of requests) {
    const [, group, version, plural, , subresource] = PATH.exec(path) ?? [];
    if (plural === undefined || subresource !== undefined) continue;
    const apiVersion = group === undefined ? `${version}` : `${group}/${version}`;
    const id = `${apiVersion} ${plural}`;
    for (const text of found.has(id) ? [] : [body, ...texts]) {
      const resource = resourceOf(text, apiVersion, plural);
      if (resource !== undefined) found.set(id, resource);
    }
  }
  return [...found.values()];
}

/** The resource of an object, of a list, or of the event of a watch. */
function resourceOf(text: string, apiVersion: string, plural: string): Resource | undefined {
  const given = parseJson(text);
  const object = isObject(given) ? (own(given, "object") ?? given) : undefined;
  if (!isObject(object) || object["apiVersion"] !== apiVersion) return undefined;
  const items = itemsOf(object);
  const kind = items === undefined ? `${object["kind"]}` : `${object["kind"]}`.replace(/List$/, "");
  const isNamespaced = (items ?? [object]).every((item) => "namespace" in metadataOf(item));
  const scope = isNamespaced ? "Namespaced" : "Cluster";
  const built = known(apiVersion, kind, plural);
  if (built !== undefined || !apiVersion.includes("/")) return built; // of `v1` there is a Status too
  return customResource({ apiVersion, kind, plural, scope });
}

function known(apiVersion: string, kind: string, plural: string): Resource | undefined {
  try {
    const resource = builtIn(apiVersion, kind);
    return resource.plural === plural ? resource : undefined;
  } catch {
    return undefined; // of a custom resource
  }
}
