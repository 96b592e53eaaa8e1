import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onAbort, realClock } from "@holdfast/clock";
import { type Logger, type Runnable, type RunOptions, silentLogger } from "@holdfast/controller";
import {
  func,
  type Kinds,
  kind,
  read,
  requireAnswer,
  requireBetween,
  requireFunction,
  requireOptions,
  requireSignal,
  requireWhole,
  text,
  yieldTurn,
} from "@holdfast/kit";
import { boundedServer } from "@holdfast/kit/node";
import { anyLogger } from "../kinds.ts";
import { runRef } from "../run-ref.ts";

const checks = kind("checks", requireChecks);

/** The part that a user may choose of a server that is not their own. */
export const HEALTH_OPTIONS: Kinds<Omit<HealthServerOptions, "name" | "logger">> = {
  port: kind("port", requirePort),
  host: text,
  live: checks,
  ready: checks,
  shown: checks,
  metrics: func,
};

export const HEALTH_SERVER_OPTIONS: Kinds<HealthServerOptions> = {
  name: text,
  ...HEALTH_OPTIONS,
  logger: anyLogger,
};

/** A check of a probe: whether all is well. One that throws has failed. */
export type HealthCheck = () => boolean;

/** Checks of a probe by their names. */
export type HealthChecks = Readonly<Record<string, HealthCheck>>;

/** Options for a {@link HealthServer}. */
export interface HealthServerOptions {
  /**
   * Name in a `Manager` and in log lines.
   *
   * @defaultValue `"health"`
   */
  readonly name?: string | undefined;

  /**
   * Port. Whole, 0 to 65,535; 0 takes a free one.
   *
   * @defaultValue `8080`
   */
  readonly port?: number | undefined;

  /**
   * Address to listen on.
   *
   * @defaultValue in a pod all addresses, because the kubelet asks from outside of it; elsewhere `"127.0.0.1"`. The
   * variable `KUBERNETES_SERVICE_HOST` tells a pod
   */
  readonly host?: string | undefined;

  /**
   * Checks of `/healthz`: the process is restarted while one of them fails.
   *
   * @defaultValue none: alive
   */
  readonly live?: HealthChecks | undefined;

  /**
   * Checks of `/readyz`: the pod counts as not ready while one of them fails.
   *
   * @defaultValue none: ready
   */
  readonly ready?: HealthChecks | undefined;

  /**
   * Checks that `/readyz` lists and does not count.
   *
   * @defaultValue none
   */
  readonly shown?: HealthChecks | undefined;

  /**
   * Text of `/metrics` in the format of Prometheus, for example `() => register.metrics()`.
   *
   * @defaultValue none: 404
   */
  readonly metrics?: (() => string | Promise<string>) | undefined;

  /**
   * Receiver of log lines: errors of checks and of metrics at debug level.
   *
   * @defaultValue none
   */
  readonly logger?: Logger | undefined;
}

const TEXT = "text/plain; charset=utf-8";
const METRICS = "text/plain; version=0.0.4; charset=utf-8";
const MAX_PORT = 65_535;

/** Milliseconds for which a run is shared: as long as a response may take. */
const MAX_RUN = 30_000;

/** Milliseconds between the starts of two runs of `metrics`, which may cost something. */
const METRICS_INTERVAL = 1_000;

/** Kubelets and scrapers have one connection each. */
const MAX_CONNECTIONS = 100;

/** The response to a request. Its bytes are shared by all connections that wait for it. */
interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

/** A run of checks or of metrics, for all requests that come before its end. */
interface PageRun {
  /** Instant of the monotonic clock at which it begins. */
  readonly start: number;
  readonly page: Promise<Page>;
}

/**
 * Responds to the probes of the kubelet and the scrapes of Prometheus, by HTTP.
 *
 * | Path | Response |
 * | --- | --- |
 * | `/healthz` | 200, or 503 while a check of `live` fails |
 * | `/readyz` | 200, or 503 while a check of `ready` fails |
 * | `/metrics` | the text of `metrics`; 404 without it, 500 if it fails |
 *
 * A probe lists its checks by name, one per line, `ok` or `failed`. It never contains an error.
 *
 * Anyone who reaches the port may ask, so a peer costs little. A connection has 5 s for a request and 30 s for its
 * response, and one request in flight: it is closed if it sends the next one before. At most 100 connections are
 * open. A further one replaces the connection that has been idle longest, or if none is idle, the
 * one whose last response is the oldest. Requests that
 * wait for the same path share one run of its checks or of `metrics`. Runs of `metrics` start at least 1 s apart, and
 * requests do not wait for a run that started 30 s before.
 *
 * @example
 * ```ts
 * import { HealthServer } from "@holdfast/kubernetes";
 *
 * const server = new HealthServer({ port: 0, host: "127.0.0.1", ready: { database: () => false } });
 * const stop = new AbortController();
 * const running = server.run(stop.signal);
 * await server.ready();
 * const response = await fetch(`http://127.0.0.1:${server.port}/readyz`);
 * console.log(response.status, await response.text()); // => 503 database failed
 * stop.abort();
 * await running;
 * ```
 */
export class HealthServer implements Runnable {
  /** Name of the server, so that a `Manager` accepts it as a runnable. */
  readonly name: string;
  readonly #options: ResolvedHealthServerOptions;
  readonly #server: Server;
  /** Runs that are not over, by path. */
  readonly #runs = new Map<string, PageRun>();
  #nextMetrics = Number.NEGATIVE_INFINITY;
  readonly #closed = new AbortController();
  #listening: Promise<void> | undefined;

  /**
   * @param options - see {@link HealthServerOptions}
   * @throws RangeError or TypeError that names the option
   */
  constructor(options: HealthServerOptions = {}) {
    this.#options = resolveHealthServer(options);
    this.name = this.#options.name;
    this.#server = boundedServer(
      { realClock, maxConnections: MAX_CONNECTIONS },
      (request: IncomingMessage, response: ServerResponse) => {
        // A stop closes the connections, so the error has no receiver.
        this.#serve(request, response).catch(() => {});
      },
    );
  }

  /** Port, from the moment at which {@link HealthServer.ready} resolves. 0 before, and after the end. */
  get port(): number {
    return (this.#server.address() as AddressInfo | null)?.port ?? 0;
  }

  /**
   * Serves until `signal` aborts. Then it closes all connections and ends at once.
   *
   * @param signal - stops the server
   * @param options - with `ref: false` the server does not keep the process alive
   * @returns a promise that resolves after the stop, and rejects if the port cannot be used. A server runs once
   */
  async run(signal: AbortSignal, options: RunOptions = {}): Promise<void> {
    requireSignal("signal", signal);
    const ref = runRef(options);
    if (this.#listening !== undefined)
      throw new Error(`server "${this.name}" has already run; create a new one`);
    const server = this.#server;
    this.#listening = this.#listen(signal);
    await this.#listening;
    if (!ref) server.unref();
    await new Promise<void>((resolve) => {
      server.on("close", resolve);
      onAbort(signal, () => {
        server.close();
        server.closeAllConnections();
        this.#closed.abort(signal.reason);
      });
    });
  }

  /** Resolves when the server listens. */
  async ready(): Promise<void> {
    await this.#listening;
  }

  #listen(signal: AbortSignal): Promise<void> {
    const { port, host } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const fail = (cause: Error): void =>
        reject(new Error(`cannot listen on options.port ${port}: ${cause.message}`, { cause }));
      this.#server.once("error", fail);
      this.#server.listen({ port, ...(host !== undefined && { host }) }, () => {
        this.#server.off("error", fail);
        resolve();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = "/" } = request;
    const isRead = method === "GET" || method === "HEAD";
    const { status, type, body } = isRead
      ? await this.#pageAt(url.replace(/\?.*$/, ""))
      : pageOf(405, "method not allowed");
    const headers = { "content-type": type, "cache-control": "no-store" };
    response.writeHead(status, { ...headers, "content-length": body.length });
    response.end(method === "HEAD" ? undefined : body);
  }

  async #pageAt(path: string): Promise<Page> {
    const make = this.#makerOf(path);
    if (make === undefined) return pageOf(404, "not found");
    const now = realClock.monotonic();
    const current = this.#runs.get(path);
    // A run that hangs must not hold up the scrapes after it for ever.
    if (current !== undefined && now - current.start < MAX_RUN) return current.page;
    const start = path === "/metrics" ? Math.max(now, this.#nextMetrics) : now;
    if (path === "/metrics") this.#nextMetrics = start + METRICS_INTERVAL;
    const run: PageRun = { start, page: runAfter(start - now, make, this.#closed.signal) };
    this.#runs.set(path, run);
    try {
      return await run.page;
    } finally {
      if (this.#runs.get(path) === run) this.#runs.delete(path);
    }
  }

  #makerOf(path: string): (() => Page | Promise<Page>) | undefined {
    const { live, ready, shown, metrics } = this.#options;
    if (path === "/healthz") return () => this.#probe(live);
    if (path === "/readyz") return () => this.#probe(ready, shown);
    if (path !== "/metrics" || metrics === undefined) return undefined;
    return () => this.#metrics(metrics);
  }

  async #metrics(metrics: () => string | Promise<string>): Promise<Page> {
    try {
      const text: unknown = await metrics();
      if (typeof text === "string") return pageOf(200, text, METRICS);
      throw new TypeError(`options.metrics must return text, got ${typeof text}`);
    } catch (err) {
      this.#options.logger.debug({ err }, "metrics failed");
      return pageOf(500, "metrics failed");
    }
  }

  #probe(checks: HealthChecks, shown: HealthChecks = {}): Page {
    const resultsOf = (all: HealthChecks) =>
      Object.entries(all).map(([name, check]) => {
        const isOk = this.#passes(name, check);
        return { isOk, line: `${name} ${isOk ? "ok" : "failed"}` };
      });
    const results = resultsOf(checks);
    const status = results.every(({ isOk }) => isOk) ? 200 : 503;
    const others = resultsOf(shown).map(({ line }) => `${line}, not counted`);
    const lines = [...results.map(({ line }) => line), ...others];
    return pageOf(status, lines.join("\n") || "ok");
  }

  #passes(name: string, check: HealthCheck): boolean {
    try {
      return requireAnswer(`the check ${name}()`, check()) === true;
    } catch (err) {
      this.#options.logger.debug({ check: name, err }, "check failed");
      return false;
    }
  }
}

/** Waits for at least a turn of the event loop: a turn has one run, however many requests it has read. */
async function runAfter(
  delay: number,
  make: () => Page | Promise<Page>,
  signal: AbortSignal,
): Promise<Page> {
  await (delay > 0 ? realClock.sleep(delay, { signal }) : yieldTurn(realClock));
  return await make();
}

function pageOf(status: number, text: string, type = TEXT): Page {
  return { status, type, body: Buffer.from(text, "utf8") };
}

type ResolvedHealthServerOptions = ReturnType<typeof resolveHealthServer>;

function resolveHealthServer(options: HealthServerOptions) {
  const given = read("options", options, "HealthServer", HEALTH_SERVER_OPTIONS);
  const { name = "health", port = 8080, metrics, logger = silentLogger } = given;
  const isInPod = process.env["KUBERNETES_SERVICE_HOST"] !== undefined;
  const { host = isInPod ? undefined : "127.0.0.1", live, ready, shown } = given;
  const checks = { live: { ...live }, ready: { ...ready }, shown: { ...shown } };
  return { name, port, host, ...checks, metrics, logger };
}

function requirePort(path: string, port: number): void {
  requireBetween(path, requireWhole(path, port, 0), 0, MAX_PORT);
}

function requireChecks(path: string, given: HealthChecks): void {
  requireOptions(path, given);
  for (const [check, fn] of Object.entries(given)) requireFunction(`${path}["${check}"]`, fn);
}
