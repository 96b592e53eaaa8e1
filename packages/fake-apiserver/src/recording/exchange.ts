import type { Line } from "@holdfast/controller/recording";
import { builtIn, customResource, type KubeRequest, type Resource } from "@holdfast/kubernetes";
import { isObject, type JsonObject, metadataOf, own, parseJson } from "../object/json.ts";
import { rewritten, TIME } from "../server/normal-form.ts";
import type { ApiCall } from "../server/request/api-call.ts";
import type { Place, Version } from "./history.ts";

/** A recorded request, and what came of it. Instants are those of the recording, in milliseconds. */
export interface Exchange {
  readonly request: KubeRequest;
  /** Undefined if the path is that of no resource. */
  readonly call: ApiCall | undefined;
  /** The object that it writes. */
  place?: Place;
  /** The version that it has made. */
  version?: Version;
  /** The instant of the request. */
  readonly at: number;
  head?: { readonly at: number; readonly status: number; readonly headers: Line };
  /** The body; of a watch its last event, if that is an error. */
  text: string;
  /** The instant of its end. Undefined if there was none. */
  end?: number;
  /** The error of its connection. */
  error?: Line;
  /** Whether the answer was cut. */
  isCut?: boolean;
}

/** Whether an exchange is a watch that has begun. */
export function isWatch({ call, head }: Exchange): boolean {
  return call?.verb === "watch" && (head?.status ?? 500) < 300;
}

/** Whether a program gets the recorded end of a request, whatever is in the server: of a fault, or of no right. */
export function isFault(exchange: Exchange): boolean {
  const { error, head, end, isCut } = exchange;
  if (isWatch(exchange)) return false;
  const status = head?.status ?? 500;
  if (error !== undefined || end === undefined || isCut) return true;
  return status >= 500 || REFUSALS.has(status);
}

/** Refusals that do not depend on objects. */
const REFUSALS = new Set([401, 403, 410, 429]);

/** Whether a request writes. */
export function isWrite({ method, path }: KubeRequest): boolean {
  return method !== "GET" && method !== "HEAD" && !/[?&]dryRun=/.test(path);
}

/** Parameters in which two equal requests may differ. */
const ASIDE = ["resourceVersion", "resourceVersionMatch", "continue", "timeoutSeconds"];

/** A text that equal requests have in common: without versions, and without times of the run. */
export function keyOf({ method, path, body }: KubeRequest, start: number): string {
  const [place, query] = path.split("?");
  const parameters = new URLSearchParams(query);
  for (const name of ASIDE) parameters.delete(name);
  const content = bodyOf(body, withoutTimes(start));
  return `${method} ${place}?${parameters} ${JSON.stringify(content)}`;
}

/** The body of a request, without versions of objects. */
export function bodyOf(body: string | undefined, rename: (text: string) => string): unknown {
  return body === undefined
    ? undefined
    : rewritten(withoutVersions(parseJson(body) ?? body), rename);
}

function withoutVersions(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !testsVersion(item)).map(withoutVersions);
  if (!isObject(value)) return value;
  const { resourceVersion: _, ...rest } = value;
  return Object.fromEntries(
    Object.entries(rest).map(([name, part]) => [name, withoutVersions(part)]),
  );
}

function testsVersion(step: unknown): boolean {
  return isObject(step) && step["path"] === "/metadata/resourceVersion";
}

/** Replaces the times from an instant on. */
export function withoutTimes(start: number): (text: string) => string {
  return (text) =>
    text.replace(TIME, (time) => (Date.parse(time) >= start - 1_000 ? "<time>" : time));
}

/** The name that a write gives its object, as text that does not depend on chance. */
export function nameOf({ name, body }: ApiCall): string {
  const given = parseJson(body ?? "");
  const metadata = isObject(given) ? metadataOf(given) : {};
  return name || String(own(metadata, "name") ?? `${own(metadata, "generateName")}*`);
}

const PATH =
  /^\/(?:api|apis\/([^/?]+))\/([^/?]+)\/(?:namespaces\/[^/?]+\/(?!status\b|finalize\b))?([^/?]+)(?:\/([^/?]+))?(\/[^?]+)?/;

/** Whether a path is that of a resource. */
export function isOfResource(path: string): boolean {
  return PATH.test(path);
}

/** The resources that recorded requests name, as far as they say. */
export function resourcesIn(
  exchanges: Iterable<readonly [KubeRequest, readonly string[]]>,
): Resource[] {
  const found = new Map<string, Resource>();
  for (const [{ path, body }, texts] of exchanges) {
    const [, group, version = "", plural = "", , subresource] = PATH.exec(path) ?? [];
    const apiVersion = group === undefined ? version : `${group}/${version}`;
    const id = `${apiVersion} ${plural}`;
    if (plural === "" || subresource !== undefined || found.has(id)) continue;
    const objects = [body ?? "", ...texts].map(parseJson).filter(isObject);
    const resource = objects
      .map((object) => resourceOf(object, { apiVersion, plural, path }))
      .find((one) => one !== undefined);
    if (resource !== undefined) found.set(id, resource);
  }
  return [...found.values()];
}

interface Where {
  readonly apiVersion: string;
  readonly plural: string;
  readonly path: string;
}

function resourceOf(object: JsonObject, { apiVersion, plural, path }: Where): Resource | undefined {
  const one = isObject(object["object"]) ? object["object"] : object;
  if (one["apiVersion"] !== apiVersion) return undefined;
  const items = Array.isArray(one["items"]) ? one["items"].filter(isObject) : undefined;
  const kind = items === undefined ? `${one["kind"]}` : `${one["kind"]}`.replace(/List$/, "");
  try {
    const known = builtIn(apiVersion, kind);
    if (known.plural === plural) return known;
  } catch {
    // of a custom resource
  }
  const seen = items ?? [one];
  const isNamespaced =
    /\/namespaces\//.test(path) ||
    seen.length === 0 ||
    seen.some((item) => "namespace" in metadataOf(item));
  const scope = isNamespaced ? "Namespaced" : "Cluster";
  return customResource({ apiVersion, kind, plural, scope });
}
