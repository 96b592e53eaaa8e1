import { LinkedController, type Timer } from "@holdfast/clock";
import type { ApiTarget } from "../client/api-request.ts";
import type { KubeResponse } from "../transport/kube-transport.ts";

const LF = 10;
const CR = 13;

/** Options for a {@link RequestScope}. */
export interface RequestScopeOptions {
  readonly target: ApiTarget;
  /** Milliseconds without a byte, other than a newline, after which the requests are given up. */
  readonly idleTimeout: number;
}

/** Why a reflector ended its own requests. It is the reason of their abort. */
export class RequestStop {
  readonly kind: "idle" | "relist" | "over";

  constructor(kind: "idle" | "relist" | "over") {
    this.kind = kind;
  }
}

/**
 * The requests of one list and watch: they end with it, with the signal of the reflector, and when no byte comes
 * for the idle timeout. Disposal leaves no request, no timer and no listener.
 */
export class RequestScope implements Disposable {
  /** The target, with an eye on the bytes. */
  readonly target: ApiTarget;
  readonly #controller: LinkedController;
  readonly #idleTimeout: number;
  readonly #timer: Timer;

  constructor(options: RequestScopeOptions, signal: AbortSignal) {
    const { target, idleTimeout } = options;
    const { clock, transport } = target;
    this.#idleTimeout = idleTimeout;
    this.#timer = clock.afterFunc(idleTimeout, () => this.stop("idle"), { label: "watch idle" });
    this.#controller = new LinkedController(signal);
    const observed: ApiTarget["transport"] = {
      description: transport.description,
      namespace: transport.namespace,
      send: async (request, own) => this.#observe(await transport.send(request, own)),
    };
    this.target = { ...target, transport: observed };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(kind: RequestStop["kind"]): void {
    this.#controller.abort(new RequestStop(kind));
  }

  [Symbol.dispose](): void {
    this.#timer.stop();
    this.#controller[Symbol.dispose]();
    this.stop("over");
  }

  #observe(response: KubeResponse): KubeResponse {
    this.#touch();
    if (response.status < 300) return { ...response, body: this.#eachTouched(response.body) };
    // The body of a failure is read in a time of its own, and must not hide the status.
    this.#timer.stop();
    return response;
  }

  /** Newlines alone keep no watch alive: a proxy may send them for a server that is gone. */
  async *#eachTouched(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      for (const byte of chunk)
        if (byte !== LF && byte !== CR) {
          this.#touch();
          break;
        }
      yield chunk;
    }
  }

  #touch(): void {
    if (!this.#controller.aborted) this.#timer.reset(this.#idleTimeout);
  }
}
