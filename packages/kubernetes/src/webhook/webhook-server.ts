import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type Clock, onAbort, realClock } from "@holdfast/clock";
import type { Logger, Runnable, RunOptions } from "@holdfast/controller";
import { callSafely, deferred } from "@holdfast/kit";
import { isObject } from "@holdfast/kit/kubernetes";
import { boundedServer } from "@holdfast/kit/node";
import { endsWithin } from "@holdfast/wait/limit";
import { runRef } from "../run-ref.ts";
import { type Convertible, converterOf } from "./conversion-review.ts";
import { readBody } from "./read-review.ts";
import type { Webhook, WebhookCaller, WebhookContext } from "./webhook.ts";
import type { WebhookMetrics } from "./webhook-metrics.ts";

/** The certificate of a server, with its private key: in PEM. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** Options for {@link WebhookServer}. */
export interface WebhookServerOptions {
  readonly port: number;
  readonly host: string | undefined;
  readonly hooks: readonly Webhook[];
  readonly convert: readonly Convertible[];
  readonly clientCa: string | undefined;
  /** Milliseconds for which each answer closes its connection, before the port closes. */
  readonly drain: number;
  readonly context: WebhookContext;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics | undefined;
}

/** API servers close connections that were idle for 90 s. Whoever closes first loses calls: the server never does. */
const MAX_PAUSE = 120_000;

/** Milliseconds for a request of 16 MiB, and for the longest answer. */
const MAX_REQUEST = 30_000;
const MAX_RESPONSE = 35_000;

const MAX_IN_FLIGHT = 256;

/** A connection has one call in flight: those beyond the calls get their 503, and no call is cut for them. */
const MAX_CONNECTIONS = 2 * MAX_IN_FLIGHT;

/** Seconds that a call has if it does not say so, and the most that it can have. */
const DEFAULT_TIMEOUT = 10;
const MAX_TIMEOUT = 30;

/** The part of the time of a call that a handler has: the rest brings the answer back. */
const SHARE = 0.9;

/** Milliseconds for calls that are in flight when the port closes. */
const LAST_CALLS = 5_000;

const MIN_VERSION = "TLSv1.2";

/** The review that a path answers. */
interface Door {
  readonly apiVersion: string;
  readonly kind: string;
  readonly answer: (request: never, caller: WebhookCaller) => unknown;
}

/** The caller of a webhook. Its signal is made when somebody asks for it. */
class Caller implements WebhookCaller {
  readonly context: WebhookContext;
  #controller: AbortController | undefined;
  #reason: DOMException | undefined;

  constructor(context: WebhookContext) {
    this.context = context;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: DOMException): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * Answers the reviews of API servers, by HTTPS.
 *
 * | Request | Response |
 * | --- | --- |
 * | a review, by POST, at the path of a webhook or of the conversions | 200 with the answer |
 * | no review; another path; another method; a body above 16 MiB | 400; 404; 405; 413 |
 * | while 256 calls are in flight, or 128 MiB of bodies | 503 with `Retry-After: 1`: API servers ask again |
 * | a handler without an answer in nine tenths of the time | 500 |
 *
 * A stop loses no call: for `drain` milliseconds each answer closes its connection, since API servers use open ones as long
 * as they last; then the port closes.
 */
export class WebhookServer implements Runnable {
  readonly name = "webhooks";
  readonly #options: WebhookServerOptions;
  readonly #server: Server;
  readonly #doors: ReadonlyMap<string, Door>;
  /** Calls in flight, by path. */
  readonly #inFlight = new Map<string, number>();
  readonly #shown = deferred<void>();
  readonly #listening = deferred<void>();
  #isStopped = false;
  #pending = 0;
  #onIdle: (() => void) | undefined;
  #state: "idle" | "open" | "draining" | "closed" = "idle";

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#doors = this.#makeDoors();
    const { clientCa } = options;
    const tls = {
      minVersion: MIN_VERSION,
      ALPNProtocols: ["http/1.1"],
      ...clientOptions(clientCa),
    };
    this.#server = boundedServer(
      {
        ...{ realClock, tls, maxConnections: MAX_CONNECTIONS },
        ...{ maxResponse: MAX_RESPONSE, maxPause: MAX_PAUSE, maxRequest: MAX_REQUEST },
      },
      (request: IncomingMessage, response: ServerResponse) => {
        // The connection is gone, so the error has no receiver.
        this.#serve(request, response).catch(() => {});
      },
    );
    // A peer that speaks no TLS, or trusts another authority, is its own problem.
    this.#server.on("tlsClientError", () => {});
    this.#listening.promise.catch(() => {});
  }

  /** Time to stop: the drain, the calls in flight, and a second. */
  get stopTimeout(): number {
    return this.#options.drain + LAST_CALLS + 1_000;
  }

  /** Port, once the server listens; 0 before. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /** Whether the server listens, and no stop has begun. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Calls in flight, by path. */
  get inFlight(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#inFlight);
  }

  /**
   * Shows a certificate to new connections. The first one lets the server listen.
   *
   * @throws Error for a key that does not fit the certificate
   */
  show({ cert, key }: TlsPair): void {
    const { clientCa: ca } = this.#options;
    this.#server.setSecureContext({ cert, key, minVersion: MIN_VERSION, ...(ca && { ca }) });
    this.#shown.resolve();
  }

  /** Serves until `signal` aborts, then drains, closes its port, and ends with its last calls. A server runs once. */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    const ref = runRef(options);
    const stop = deferred<void>();
    using _end = onAbort(signal, () => {
      if (this.#state === "open") this.#state = "draining";
      this.#isStopped = true;
      stop.resolve();
      this.#listening.reject(signal.reason);
    });
    await Promise.race([this.#shown.promise, stop.promise]);
    if (!this.#isStopped) await this.#listen();
    if (!ref) this.#server.unref();
    await stop.promise;
    if (this.#state === "draining") await this.#drain();
    this.#state = "closed";
  }

  /** Resolves when the server listens. Rejects if it cannot, or was stopped before. */
  async ready(): Promise<void> {
    await this.#listening.promise;
  }

  async #listen(): Promise<void> {
    const { port, host } = this.#options;
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen({ port, ...(host !== undefined && { host }) }, () => {
          this.#server.off("error", reject);
          resolve();
        });
      });
    } catch (cause) {
      const message = `cannot listen on options.webhooks.port ${port}: ${(cause as Error).message}`;
      const error = new Error(message, { cause });
      this.#listening.reject(error);
      throw error;
    }
    this.#state = this.#isStopped ? "draining" : "open";
    this.#listening.resolve();
  }

  async #drain(): Promise<void> {
    const { clock, drain } = this.#options;
    await clock.sleep(drain, { label: "drain of webhooks" });
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#pending === 0) resolve();
    });
    await endsWithin(() => idle, LAST_CALLS, { clock });
    this.#server.closeAllConnections();
    await closed;
  }

  #makeDoors(): ReadonlyMap<string, Door> {
    const { hooks, convert, logger, metrics } = this.#options;
    const doors = new Map<string, Door>();
    for (const hook of hooks)
      doors.set(`/${hook.configuration.name}`, {
        ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
        answer: (request, caller) => hook.review(request, caller),
      });
    if (convert.length === 0) return doors;
    const converter = converterOf(convert, {
      onError: (details) => logger.error(details, "conversion failed"),
      onConverted: (conversion) => metrics?.converted(conversion),
    });
    return doors.set("/convert", {
      ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview" },
      answer: (request) => converter(request),
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const start = realClock.monotonic();
    const { method, url = "/" } = request;
    const mark = url.indexOf("?");
    const [path, query] = mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
    const door = this.#doors.get(path);
    if (door === undefined) return void this.#answer(response, 404, "not found");
    if (method !== "POST") return void this.#answer(response, 405, "method not allowed");
    if (this.#pending >= MAX_IN_FLIGHT) return void this.#answer(response, 503, "too many calls");
    this.#count(path, 1);
    try {
      const status = await this.#review(door, { request, response, query });
      this.#measure(path, status, start);
    } finally {
      this.#count(path, -1);
    }
  }

  #measure(path: string, status: number, start: number): void {
    const { metrics } = this.#options;
    if (metrics === undefined) return;
    const call = { webhook: path, code: String(status), duration: realClock.monotonic() - start };
    callSafely(() => metrics.answered(call));
  }

  /** Answers a call. Returns its status: 499 if nobody waits for the answer any more. */
  async #review(
    door: Door,
    call: {
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
      readonly query: string;
    },
  ): Promise<number> {
    const { request, response, query } = call;
    const body = await readBody(request);
    if (typeof body === "number") return this.#answer(response, body, TEXTS[body] ?? "refused");
    const review = reviewIn(body, door);
    if (review === undefined) return this.#answer(response, 400, "no review");
    try {
      const { status, answer } = await this.#within(timeoutOf(query) * SHARE, response, (caller) =>
        door.answer(review as never, caller),
      );
      if (status !== 200) return this.#answer(response, status, TEXTS[status] ?? "refused");
      const { apiVersion, kind } = door;
      return this.#answer(response, 200, JSON.stringify({ apiVersion, kind, response: answer }));
    } catch (err) {
      if (err instanceof TypeError) return this.#answer(response, 400, "no review");
      callSafely(() => this.#options.logger.error({ err }, "call failed"));
      return this.#answer(response, 500, "call failed");
    }
  }

  /** The result of `work`: 500 if it takes too long, 499 if its caller goes. */
  #within(
    limit: number,
    response: ServerResponse,
    work: (caller: WebhookCaller) => unknown,
  ): Promise<{ readonly status: number; readonly answer?: unknown }> {
    const { clock, context } = this.#options;
    return new Promise((resolve, reject) => {
      const caller = new Caller(context);
      let timer: { stop(): void } | undefined;
      let isOver = false;
      const over = (): void => {
        isOver = true;
        timer?.stop();
      };
      const end = (status: number, reason: DOMException): void => {
        over();
        resolve({ status });
        caller.abort(reason);
      };
      const expire = (): void => end(500, new DOMException("no answer in time", "TimeoutError"));
      Promise.resolve(work(caller)).then(
        (answer) => {
          over();
          resolve({ status: 200, answer });
        },
        (error: unknown) => {
          over();
          reject(error as Error);
        },
      );
      // After all that needs no wait: most handlers have their answer by then, and no timer.
      process.nextTick(() => {
        if (isOver) return;
        timer = clock.afterFunc(limit, expire, { label: "webhook" });
        const gone = (): void => {
          if (!isOver) end(499, new DOMException("nobody waits for the answer", "AbortError"));
        };
        if (response.closed) gone();
        else response.once("close", gone);
      });
    });
  }

  #answer(response: ServerResponse, status: number, text: string): number {
    if (response.destroyed || response.headersSent) return status;
    const isLast = this.#state !== "open";
    response.writeHead(status, {
      "content-type": status === 200 ? "application/json" : "text/plain; charset=utf-8",
      "content-length": Buffer.byteLength(text),
      ...(isLast && { connection: "close" }),
      ...(status === 503 && { "retry-after": "1" }),
    });
    response.end(text); // a text goes out with its head, in one write
    return status;
  }

  #count(path: string, change: 1 | -1): void {
    this.#pending += change;
    this.#inFlight.set(path, (this.#inFlight.get(path) ?? 0) + change);
    if (this.#pending === 0) this.#onIdle?.();
  }
}

const TEXTS: Readonly<Record<number, string>> = {
  400: "body cut",
  413: "body above 16 MiB",
  500: "no answer in time",
  503: "too many calls",
};

/** The request in a body. Undefined for a body that is no review of this kind. */
function reviewIn(body: Buffer, { apiVersion, kind }: Door): object | undefined {
  try {
    const review: unknown = JSON.parse(body.toString("utf8"));
    if (!isObject(review) || review["apiVersion"] !== apiVersion || review["kind"] !== kind)
      return undefined;
    return isObject(review["request"]) ? review["request"] : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds of `timeout=5s`. */
function timeoutOf(query: string): number {
  const [, text] = /(?:^|&)timeout=(\d+(?:\.\d+)?)s(?:&|$)/.exec(query) ?? [];
  const seconds = text === undefined ? DEFAULT_TIMEOUT : Number(text);
  return Math.min(seconds, MAX_TIMEOUT) * 1_000;
}

function clientOptions(ca: string | undefined): object {
  return ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true };
}
