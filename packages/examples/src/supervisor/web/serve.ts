import type { Registry } from "prom-client";
import { type PageOptions, type Route, servePage, type WebServer } from "../../web/serve-page.ts";
import { type HealthCheck, healthReply } from "./health.ts";

/** Options for {@link serve}. */
export interface ServeOptions extends Pick<PageOptions, "clock" | "port" | "status"> {
  /** Metrics of `/metrics`. */
  readonly register: Registry;
  /** Checks of `/healthz`: a restart would repair a failure. */
  readonly alive?: readonly HealthCheck[];
  /** Checks of `/readyz`: whether this program is useful now. */
  readonly ready?: readonly HealthCheck[];
}

function routesOf({ register, alive = [], ready = [] }: ServeOptions): Map<string, Route> {
  const isVerbose = ({ searchParams }: URL): boolean => searchParams.has("verbose");
  return new Map<string, Route>([
    ["/healthz", (url) => healthReply(alive, isVerbose(url))],
    ["/readyz", (url) => healthReply(ready, isVerbose(url))],
    [
      "/metrics",
      async () => ({ status: 200, type: register.contentType, body: await register.metrics() }),
    ],
  ]);
}

/**
 * Serves the page of a supervisor, its data and its health on 127.0.0.1.
 *
 * | Path | |
 * | --- | --- |
 * | `/`, `/state`, `/events` | see {@link servePage}; `/state` is a `Snapshot` |
 * | `/healthz`, `/readyz` | 200 or 503; `?verbose` for JSON |
 * | `/metrics` | metrics for Prometheus |
 *
 * @returns the server, when it listens; rejects if the port is taken
 */
export async function serve(options: ServeOptions): Promise<WebServer> {
  const { clock, port, status } = options;
  return await servePage({
    clock,
    port,
    status,
    page: "supervisor/web/page",
    routes: routesOf(options),
  });
}
