import type { Clock } from "@holdfast/clock";
import type { KubeRequest, KubeResponse } from "@holdfast/kubernetes";
import type { ApiResponse } from "./api-response.ts";
import type { ApiServer } from "./api-server.ts";
import { connectionError } from "./connection-error.ts";
import { breakBody, type FakeRequest, type Fault, Faults, responseOf } from "./faults.ts";
import { mediaTypeOf } from "./request/representation.ts";
import { type OpenRequest, RequestLog } from "./request-log.ts";
import { ResponseBody } from "./response-body.ts";
import type { Rights } from "./rights.ts";

/** Where connections lead. */
export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly server: ApiServer;
  /** How many requests the log keeps, at least. */
  readonly keptRequests: number;
}

/** A request and the parts of its response. */
interface Exchange {
  readonly request: KubeRequest;
  readonly body: ResponseBody;
  readonly fault: Fault | undefined;
  readonly entry: OpenRequest;
}

/** The way from clients to the server, with everything that goes wrong on it. */
export class Connections {
  /** Whether new connections are accepted. */
  isAccepting = true;

  readonly faults: Faults = new Faults();
  readonly #clock: Clock;
  readonly #server: ApiServer;
  readonly #log: RequestLog;
  readonly #bodies = new Set<ResponseBody>();

  constructor({ clock, server, keptRequests }: ConnectionsOptions) {
    this.#clock = clock;
    this.#server = server;
    this.#log = new RequestLog(keptRequests);
  }

  /** The latest requests. */
  get requests(): readonly FakeRequest[] {
    return this.#log.requests;
  }

  /** Resets all connections. */
  cut(): void {
    for (const body of [...this.#bodies]) body.reset();
  }

  /** `send` of a `KubeTransport` whose caller has these rights, or all. */
  async send(
    request: KubeRequest,
    signal: AbortSignal,
    rights?: Rights | undefined,
  ): Promise<KubeResponse> {
    signal.throwIfAborted();
    if (!this.isAccepting) throw connectionError("ECONNREFUSED", request);
    const { call, query, respond } = this.#server.read(request, rights);
    const entry = this.#log.add(this.#clock.now(), request, query, call);
    const body = this.#open(request, signal);
    try {
      const fault = this.faults.find(entry);
      await this.#meet(fault, request, body);
      const given = responseOf(fault) ?? respond();
      if (given.delay !== undefined) await this.#pause(body, given.delay);
      if (fault?.type === "drop") throw connectionError("ECONNRESET", request);
      return this.#respond(given, { request, body, fault, entry });
    } catch (error) {
      body.fail(error);
      throw error;
    }
  }

  #open(request: KubeRequest, signal: AbortSignal): ResponseBody {
    const body = new ResponseBody(request, signal);
    this.#bodies.add(body);
    body.onClose(() => this.#bodies.delete(body));
    return body;
  }

  /** The effect of a fault before the request is executed. */
  async #meet(fault: Fault | undefined, request: KubeRequest, body: ResponseBody): Promise<void> {
    switch (fault?.type) {
      case "reject":
        throw connectionError("ECONNREFUSED", request);
      case "reset":
        if (fault.after === undefined) throw connectionError("ECONNRESET", request);
        break;
      case "stall":
        if (fault.after === undefined) await this.#pause(body, Number.POSITIVE_INFINITY);
        break;
      case "delay":
        await this.#pause(body, fault.delay);
        break;
      default:
    }
  }

  /** Waits, unless the connection is closed before. */
  #pause(body: ResponseBody, delay: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer =
        delay === Number.POSITIVE_INFINITY
          ? undefined
          : this.#clock.afterFunc(delay, resolve, { label: "slow response of FakeApi" });
      body.onClose(() => {
        timer?.stop();
        reject(body.failure);
      });
    });
  }

  #respond(response: ApiResponse, { request, body, fault, entry }: Exchange): KubeResponse {
    entry.status = response.status;
    breakBody(body, fault);
    const isText = "text" in response;
    if ("watch" in response) response.watch(body);
    else {
      const text = isText ? response.text : JSON.stringify(response.json);
      if (request.method !== "HEAD") body.write(text);
      body.end();
    }
    const headers = {
      "content-type": isText ? "text/plain; charset=utf-8" : mediaTypeOf(request.headers["accept"]),
      date: new Date(this.#clock.now()).toUTCString(),
      ...response.headers,
    };
    return { status: response.status, headers, body };
  }
}
