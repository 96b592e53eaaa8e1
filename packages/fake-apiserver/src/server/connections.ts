import type { KubeRequest } from "@holdfast/kubernetes";
import { connectionError } from "./connection-error.ts";
import { ResponseBody } from "./response-body.ts";

/** The connections of clients. Each carries one request. */
export class Connections {
  /** Whether new connections are accepted. */
  isAccepting = true;

  readonly #bodies = new Set<ResponseBody>();

  /**
   * Opens a connection.
   *
   * @returns the body of its response
   * @throws `signal.reason`; ConnectionError if the server is stopped
   */
  open(request: KubeRequest, signal: AbortSignal): ResponseBody {
    signal.throwIfAborted();
    if (!this.isAccepting) throw connectionError("ECONNREFUSED", request);
    const body = new ResponseBody(request, signal);
    this.#bodies.add(body);
    body.onClose(() => this.#bodies.delete(body));
    return body;
  }

  /** Resets all connections. */
  cut(): void {
    for (const body of [...this.#bodies]) body.reset();
  }
}
