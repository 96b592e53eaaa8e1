// Short forms of the steps of scripts.
import type { RequestStep, Uncompared, WatchReading } from "./script.ts";

type Extra = Partial<Omit<RequestStep, "method" | "path" | "body">>;
type Fields = Readonly<Record<string, unknown>>;

export function get(path: string, extra: Extra = {}): RequestStep {
  return { method: "GET", path, ...extra };
}

export function post(path: string, body: unknown, extra: Extra = {}): RequestStep {
  return { method: "POST", path, body, ...extra };
}

export function put(path: string, body: unknown, extra: Extra = {}): RequestStep {
  return { method: "PUT", path, body, ...extra };
}

/** @param body - DeleteOptions, without kind and version */
export function remove(path: string, body?: Fields, extra: Extra = {}): RequestStep {
  const options = { apiVersion: "v1", kind: "DeleteOptions", ...body };
  return { method: "DELETE", path, ...(body !== undefined && { body: options }), ...extra };
}

export function mergePatch(path: string, body: unknown, extra: Extra = {}): RequestStep {
  const contentType = "application/merge-patch+json";
  return { method: "PATCH", path, contentType, body, ...extra };
}

export function jsonPatch(path: string, body: readonly Fields[], extra: Extra = {}): RequestStep {
  const contentType = "application/json-patch+json";
  return { method: "PATCH", path, contentType, body, ...extra };
}

/** Server-side apply. JSON is YAML. */
export function apply(
  path: string,
  body: unknown,
  {
    manager = "one",
    force = false,
    query,
    ...extra
  }: Extra & { manager?: string; force?: boolean } = {},
): RequestStep {
  const contentType = "application/apply-patch+yaml";
  const parameters = { fieldManager: manager, ...(force && { force: "true" }), ...query };
  return { method: "PATCH", path, contentType, body, query: parameters, ...extra };
}

/** Reads events, by default from the version on that the query names. */
export function watch(
  path: string,
  reading: WatchReading,
  query: Readonly<Record<string, string>>,
  extra: Extra = {},
): RequestStep {
  return { method: "GET", path, watch: reading, query, ...extra };
}

/** A ConfigMap. */
export function configMap(name: string, data?: Fields, metadata: Fields = {}): Fields {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...metadata },
    ...(data && { data }),
  };
}

/** A Widget of the scripts' own custom resource. */
export function widget(
  name: string,
  spec: Fields = { color: "red" },
  metadata: Fields = {},
): Fields {
  return {
    apiVersion: "conformance.example.org/v1",
    kind: "Widget",
    metadata: { name, ...metadata },
    spec,
  };
}

/** Parts of any step in which a server with types writes what is empty, and a fake server without them does not. */
export function typed(...parts: string[]): Uncompared[] {
  const reason = "a server with types of its own writes empty fields";
  return parts.map((part) => ({ path: `*.${part}`, reason, on: "fake" }));
}

/** Generations of a type to which the recorded server gives them, because it has a spec, and Kubernetes does not. */
export const UNGENERATED: Uncompared = {
  path: "*.body.metadata.generation",
  reason: "Kubernetes gives objects of this type no generation",
  on: "fake",
};
