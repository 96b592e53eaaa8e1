import type { KubeRequest } from "@holdfast/kubernetes";
import { type ApiResponse, nothingThere, refusal } from "../api-response.ts";
import { discover } from "../discovery.ts";
import { noSuchMethod } from "../failure.ts";
import type { ServedResource } from "../resource/served-resource.ts";
import type { Attributes } from "../rights.ts";
import type { ApiCall } from "./api-call.ts";
import { adviceOn, attributesOf, type ParsedPath, parsePath, routeOf } from "./route.ts";

/** A request that the server has read: a call of a resource, or one that has the same response every time. */
export type ReadRequest = { readonly query: URLSearchParams } & (
  | { readonly right: Attributes; readonly call: ApiCall; readonly fixed?: undefined }
  | { readonly right?: Attributes; readonly call?: undefined; readonly fixed: ApiResponse }
);

/** Reads the path of a request. */
export function readRequest(request: KubeRequest, served: readonly ServedResource[]): ReadRequest {
  const path = parsePath(request.path);
  if (path === undefined) return { query: new URLSearchParams(), fixed: nothingThere("") };
  const read = { query: path.query, right: attributesOf(request, path) };
  try {
    const call = routeOf(request, path, served);
    return call === undefined
      ? { ...read, fixed: documentAt(request, path, served) }
      : { ...read, call };
  } catch (error) {
    return { ...read, fixed: refusal(error) };
  }
}

function documentAt(
  { method }: KubeRequest,
  { segments }: ParsedPath,
  served: readonly ServedResource[],
): ApiResponse {
  const found = discover(segments, served);
  if (found === undefined) return nothingThere(adviceOn(segments, served));
  // Checks of health are text, and take any method.
  return method === "GET" || "text" in found ? found : refusal(noSuchMethod());
}
