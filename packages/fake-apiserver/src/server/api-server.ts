import type { KubeRequest, KubeResponse } from "@holdfast/kubernetes";
import { type ApiResponse, orRefusal, refusalOf, warnedOf } from "./api-response.ts";
import { Connections } from "./connections.ts";
import { requireReadable } from "./failure.ts";
import { breakResponse, type FakeRequest, Faults, meetFault, responseOf } from "./faults.ts";
import { type ReadRequest, readRequest } from "./request/read-request.ts";
import { mediaTypeOf } from "./request/representation.ts";
import { RequestLog } from "./request-log.ts";
import type { ServedResource } from "./resource/served-resource.ts";
import { respond } from "./respond.ts";
import type { ResponseBody } from "./response-body.ts";
import type { Rights } from "./rights.ts";
import { Objects, type ObjectsOptions } from "./write/objects.ts";

/** Parts of the server. */
export interface ApiServerOptions extends ObjectsOptions {
  readonly served: readonly ServedResource[];

  /** How many requests the log keeps, at least. */
  readonly keptRequests: number;
}

/**
 * The server. A request passes these links, in this order; each ends it, or hands it to the next:
 *
 * | Link | Ends a request with |
 * | --- | --- |
 * | connection | the error of a stopped server; the reason of its signal |
 * | faults | the fault that it meets: instead of the response, or within it |
 * | rights | 403 |
 * | admission | the failure of a write that is not allowed. It makes the objects to store |
 * | respond | the objects that were read or stored |
 */
export class ApiServer {
  readonly connections: Connections = new Connections();
  readonly faults: Faults = new Faults();
  readonly #log: RequestLog;
  readonly #objects: Objects;
  #served: readonly ServedResource[];

  constructor({ served, keptRequests, ...options }: ApiServerOptions) {
    this.#log = new RequestLog(keptRequests);
    this.#objects = new Objects(options);
    this.#served = served;
  }

  /** The latest requests. */
  get requests(): readonly FakeRequest[] {
    return this.#log.requests;
  }

  /** Serves other resources from now on, as after a change of their definitions. */
  serve(served: readonly ServedResource[]): void {
    this.#served = served;
  }

  /**
   * `send` of a `KubeTransport`.
   *
   * @param rights - rights of the caller. Undefined: everything is allowed
   */
  async send(request: KubeRequest, signal: AbortSignal, rights?: Rights): Promise<KubeResponse> {
    const body = this.connections.open(request, signal);
    try {
      const read = readRequest(request, this.#served);
      const entry = this.#log.add(this.#objects.time(), request, read);
      // A request that meets a fault needs its right too.
      const refused = refusalOf(() => read.right && rights?.require(read.right));
      const pause = (delay: number): Promise<void> => body.pause(this.#objects.clock, delay);
      const fault = this.faults.find(entry);
      await meetFault(fault, request, pause);
      const response = responseOf(fault) ?? (await this.#carryOut(read, refused, rights));
      if (response.delay !== undefined) await pause(response.delay);
      breakResponse(fault, request, body);
      entry.status = response.status;
      return delivered(response, { request, body, now: this.#objects.time() });
    } catch (error) {
      body.fail(error);
      throw error;
    }
  }

  async #carryOut(
    { call, right, fixed }: ReadRequest,
    refused: ApiResponse | undefined,
    rights: Rights | undefined,
  ): Promise<ApiResponse> {
    if (call === undefined) return refused ?? fixed;
    const requireVerb = (verb: string): void => rights?.require({ ...right, verb });
    const carryOut = async (): Promise<ApiResponse> => {
      requireReadable(call.body);
      return await respond(this.#objects, call, requireVerb);
    };
    const response = refused ?? (await orRefusal(carryOut));
    const old = call.served.deprecation;
    return old === undefined ? response : warnedOf(response, old);
  }
}

/** Writes a response into its body. A watch goes on writing. */
function delivered(
  response: ApiResponse,
  {
    request: { method, headers },
    body,
    now,
  }: { readonly request: KubeRequest; readonly body: ResponseBody; readonly now: number },
): KubeResponse {
  const isText = "text" in response;
  if ("watch" in response) response.watch(body);
  else {
    if (method !== "HEAD") body.write(isText ? response.text : JSON.stringify(response.json));
    body.end();
  }
  const type = isText ? "text/plain; charset=utf-8" : mediaTypeOf(headers["accept"]);
  const date = new Date(now).toUTCString();
  const given = { "content-type": type, date, ...response.headers };
  return { status: response.status, headers: given, body };
}
