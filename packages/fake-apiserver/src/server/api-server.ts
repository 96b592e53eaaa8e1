import { LinkedController } from "@holdfast/clock";
import type { KubeRequest, KubeResponse, Webhook } from "@holdfast/kubernetes";
import { isTimeoutError, withTimeout } from "@holdfast/wait";
import { type ApiResponse, orRefusal, refusalOf, warningHeaders } from "./api-response.ts";
import { Connections } from "./connections.ts";
import { requireReadable, timedOut } from "./failure.ts";
import {
  breakResponse,
  type FakeRequest,
  Faults,
  type HookFaultRule,
  HookFaults,
  meetFault,
  responseOf,
} from "./faults.ts";
import { type ReadRequest, readRequest } from "./request/read-request.ts";
import { mediaTypeOf } from "./request/representation.ts";
import { RequestLog } from "./request-log.ts";
import type { ServedResource } from "./resource/served-resource.ts";
import { respond } from "./respond.ts";
import type { ResponseBody } from "./response-body.ts";
import type { Rights } from "./rights.ts";
import { WebhookAdmission } from "./webhooks/admission.ts";
import { withFailures } from "./webhooks/conversion.ts";
import type { HookContext } from "./webhooks/hook-cluster.ts";
import { type Asked, reviewedVersion } from "./webhooks/matching.ts";
import { Objects, type ObjectsOptions } from "./write/objects.ts";

/** Parts of the server. */
export interface ApiServerOptions extends ObjectsOptions {
  readonly served: readonly ServedResource[];

  /** Asked about writes, in this order. Default: none. */
  readonly webhooks?: readonly Webhook[] | undefined;

  /** The operator of the webhooks. */
  readonly webhookContext?: HookContext | undefined;

  /** How many requests the log keeps, at least. */
  readonly keptRequests: number;
}

/** Milliseconds that a write and its webhooks may take. */
const LONGEST_WRITE = 34_000;

/** The operations of a write: an apply creates or changes. */
const OPERATIONS: Readonly<Record<string, readonly Asked["operation"][]>> = {
  create: ["CREATE"],
  update: ["CREATE", "UPDATE"],
  patch: ["CREATE", "UPDATE"],
  delete: ["DELETE"],
  deletecollection: ["DELETE"],
};

/**
 * The server. A request passes these links, in this order; each ends it, or hands it to the next:
 *
 * | Link | Ends a request with |
 * | --- | --- |
 * | connection | the error of a stopped server; the reason of its signal |
 * | faults | the fault that it meets: instead of the response, or within it |
 * | rights | 403 |
 * | respond | the objects that were read or stored; the failure of a write that its checks or a webhook do not allow |
 */
export class ApiServer {
  readonly connections: Connections = new Connections();
  readonly faults: Faults = new Faults();
  readonly #log: RequestLog;
  readonly #objects: Objects;
  readonly hookFaults: HookFaults = new HookFaults();
  readonly webhooks: readonly Webhook[];
  readonly #webhookContext: HookContext | undefined;
  #served: readonly ServedResource[];

  constructor(given: ApiServerOptions) {
    const { served, webhooks = [], webhookContext, keptRequests, ...options } = given;
    this.webhooks = webhooks;
    this.#webhookContext = webhookContext;
    this.#log = new RequestLog(keptRequests);
    this.#objects = new Objects(options);
    this.#served = served.map((one) => withFailures(one, this.hookFaults));
  }

  /** The webhooks, and the resources that are converted. */
  get hooks(): readonly HookFaultRule["hook"][] {
    const converted = this.#served.filter(({ convert }) => convert !== undefined);
    return [...this.webhooks, ...converted.map(({ resource }) => resource)];
  }

  /** The webhooks that a request may ask, and the resource whose objects it converts. */
  hooksFor(request: KubeRequest): readonly HookFaultRule["hook"][] {
    const { call } = readRequest(request, this.#served);
    if (call === undefined) return [];
    const { served, subresource, verb } = call;
    const operations = OPERATIONS[verb] ?? [];
    const asked = this.webhooks.filter((hook) =>
      operations.some((operation) =>
        reviewedVersion(hook, { served, subresource, operation }, this.#served),
      ),
    );
    const isConverted = served.convert !== undefined && served.storage !== undefined;
    return isConverted ? [...asked, served.resource] : asked;
  }

  /** The latest requests. */
  get requests(): readonly FakeRequest[] {
    return this.#log.requests;
  }

  /** Serves other resources from now on, as after a change of their definitions. */
  serve(served: readonly ServedResource[]): void {
    this.#served = served.map((one) => withFailures(one, this.hookFaults));
  }

  /**
   * `send` of a `KubeTransport`.
   *
   * @param rights - rights of the caller. Undefined: everything is allowed
   */
  async send(request: KubeRequest, signal: AbortSignal, rights?: Rights): Promise<KubeResponse> {
    const body = this.connections.open(request, signal);
    using connection = new LinkedController();
    body.onClose(() => connection.abort(body.failure));
    try {
      const read = readRequest(request, this.#served);
      const entry = this.#log.add(this.#objects.time(), request, read);
      // A request that meets a fault needs its right too.
      const refused = refusalOf(() => read.right && rights?.require(read.right));
      const pause = (delay: number): Promise<void> => body.pause(this.#objects.clock, delay);
      const fault = this.faults.find(entry);
      await meetFault(fault, request, pause);
      const response =
        responseOf(fault) ?? (await this.#carryOut(read, refused, rights, connection));
      connection.signal.throwIfAborted();
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
    connection: LinkedController,
  ): Promise<ApiResponse> {
    if (call === undefined) return refused ?? fixed;
    const requireVerb = (verb: string): void => rights?.require({ ...right, verb });
    const told = call.served.deprecation === undefined ? [] : [call.served.deprecation];
    const heard: string[] = [];
    const carryOut = async (): Promise<ApiResponse> => {
      requireReadable(call.body);
      if (this.webhooks.length === 0 || OPERATIONS[call.verb] === undefined)
        return await respond(this.#objects, call, requireVerb);
      return await this.#withWebhooks(connection.signal, heard, (admission) =>
        respond(this.#objects, { ...call, admission }, requireVerb),
      );
    };
    const response = refused ?? (await orRefusal(carryOut));
    const warnings = [...told, ...(response.warnings ?? []), ...heard];
    return { ...response, warnings };
  }

  /** Carries out a write that webhooks are asked about. */
  async #withWebhooks(
    connection: AbortSignal,
    warnings: string[],
    write: (admission: WebhookAdmission) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const { hookFaults: faults, webhooks: hooks } = this;
    const work = (signal: AbortSignal): Promise<ApiResponse> => {
      const parts = { objects: this.#objects, served: this.#served, context: this.#webhookContext };
      return write(new WebhookAdmission({ ...parts, hooks, faults, signal }, warnings));
    };
    const { clock } = this.#objects;
    const label = "write of FakeApi";
    try {
      return await withTimeout(work, LONGEST_WRITE, { clock, signal: connection, label });
    } catch (error) {
      throw !connection.aborted && isTimeoutError(error) ? timedOut() : error;
    }
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
  const warnings = warningHeaders(response.warnings);
  const given = { "content-type": type, date, ...response.headers, ...warnings };
  return { status: response.status, headers: given, body };
}
