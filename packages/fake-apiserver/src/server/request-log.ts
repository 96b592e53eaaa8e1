import type { KubeRequest } from "@holdfast/kubernetes";
import { qualified } from "./failure.ts";
import type { FakeRequest } from "./faults.ts";
import type { ReadRequest } from "./request/read-request.ts";

/** A request whose response is still to come. */
export type OpenRequest = { -readonly [Key in keyof FakeRequest]: FakeRequest[Key] };

/** The latest requests, in the order in which they arrived. */
export class RequestLog {
  readonly requests: OpenRequest[] = [];
  readonly #kept: number;

  /** @param kept - how many it keeps at least. It removes as many at once */
  constructor(kept: number) {
    this.#kept = kept;
  }

  /** Adds a request. */
  add(
    at: number,
    { method, path, headers }: KubeRequest,
    { query, call }: ReadRequest,
  ): OpenRequest {
    const request: OpenRequest = {
      at,
      method,
      path,
      query,
      headers,
      verb: call?.verb ?? "other",
      resource: call && qualified(call.served),
      namespace: call?.namespace,
      name: call?.name ?? "",
      subresource: call?.subresource,
      status: undefined,
    };
    if (this.requests.length >= 2 * this.#kept) this.requests.splice(0, this.#kept);
    this.requests.push(request);
    return request;
  }
}
