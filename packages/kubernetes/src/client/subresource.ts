import type { Resource } from "../object/resource.ts";
import { discoveryPath } from "../object/resource-path.ts";
import { ApiError, isNotFound } from "./api-error.ts";
import type { ApiRequest } from "./api-request.ts";
import type { Send } from "./call.ts";

/** What a request is for: an object of a resource, or a subresource of it. */
interface Place {
  readonly resource: Resource;
  readonly subresource: string | undefined;
}

/**
 * Sends a request for an object. A server answers "not found", with the name of the object, also if the kind lacks
 * the subresource: then its own list of resources decides which of both is missing.
 *
 * @throws ApiError that names the subresource and is not `NotFound`, if the kind lacks it
 */
export function sendTo(place: Place, send: Send, request: ApiRequest): Promise<object> {
  return send(request).catch(async (error: unknown) => {
    if (place.subresource === undefined || !isNotFound(error)) throw error;
    throw (await isLacking(place, send)) ? lacking(place, request) : error;
  });
}

async function isLacking({ resource, subresource }: Place, send: Send): Promise<boolean> {
  const path = discoveryPath(resource);
  try {
    const { resources } = (await send({ method: "GET", path })) as ResourceList;
    const names = resources.map(({ name }) => name);
    return names.includes(resource.plural) && !names.includes(`${resource.plural}/${subresource}`);
  } catch {
    return false; // the first error says more
  }
}

/** The part of an `APIResourceList` that is used. */
interface ResourceList {
  readonly resources: readonly { readonly name: string }[];
}

function lacking({ resource, subresource }: Place, { method, path }: ApiRequest): ApiError {
  const { kind, apiVersion } = resource;
  const message = `the server has no subresource ${JSON.stringify(subresource)} of ${kind} of ${apiVersion}; of a custom resource, check "subresources" in its CustomResourceDefinition`;
  return new ApiError({ status: 404, reason: "", message, details: {}, method, path });
}
