import { type Clock, realClock } from "@holdfast/clock";
import {
  jsonReply,
  type LiveServer,
  type Reply,
  serveLivePage,
  textReply,
  typedReply,
} from "@holdfast/kit/node";
import { type HealthCheck, healthReply } from "./health.ts";
import { metricsOf } from "./metrics.ts";
import { mainOf, STYLE } from "./page.ts";
import { forOthers, type SnapshotSource } from "./snapshot.ts";

/** Options for {@link serve}. */
export interface ServeOptions {
  readonly clock: Clock;
  /** 0 takes a free one. */
  readonly port: number;
  readonly status: SnapshotSource;
  /** Checks of `/healthz`: a restart would repair a failure. */
  readonly alive?: readonly HealthCheck[];
  /** Checks of `/readyz`: whether this program is useful now. */
  readonly ready?: readonly HealthCheck[];
  /** What the user of this supervisor shows, to see output and to act; undefined to serve neither. */
  readonly token?: string | undefined;
  /** The last lines of a process; undefined if there is none of the name. */
  readonly linesOf?: (name: string) => readonly string[] | undefined;
  /** Each returns false if there is no process of the name. */
  readonly restart?: (name: string) => boolean;
  readonly stop?: (name: string) => boolean;
}

/** Paths for the user of the supervisor only. */
const SECRET: ReadonlySet<string> = new Set(["/status", "/logs"]);
const ACTIONS: ReadonlySet<string> = new Set(["/restart", "/stop"]);

function replyOf(options: ServeOptions, { pathname, searchParams }: URL): Reply | undefined {
  const { status, alive = [], ready = [], restart, stop } = options;
  const name = searchParams.get("name") ?? "";
  const isVerbose = searchParams.has("verbose");
  switch (pathname) {
    case "/metrics":
      return typedReply("text/plain; version=0.0.4", metricsOf(status.snapshot()));
    case "/healthz":
      return healthReply(alive, isVerbose);
    case "/readyz":
      return healthReply(ready, isVerbose);
    case "/status":
      return jsonReply(200, status.snapshot());
    case "/logs":
      return logsReply(options, name);
    case "/restart":
      return restart?.(name) ? textReply(200, "restarting") : NONE;
    case "/stop":
      return stop?.(name) ? textReply(200, "stopping") : NONE;
    default:
      return undefined;
  }
}

const NONE = textReply(404, "no such process");

function logsReply({ linesOf }: ServeOptions, name: string): Reply {
  const lines = linesOf?.(name);
  return lines === undefined ? NONE : jsonReply(200, lines);
}

/**
 * Serves the page of a supervisor, its data and its health on 127.0.0.1, as {@link serveLivePage} does.
 *
 * | Path | |
 * | --- | --- |
 * | `/healthz`, `/readyz` | 200 or 503; `?verbose` for JSON |
 * | `/metrics` | metrics for Prometheus |
 * | `/status`, `/logs`, POST `/restart`, POST `/stop` | for `holdfast run status`, `logs`, `restart` and `stop`, with the token |
 */
export async function serve(options: ServeOptions): Promise<LiveServer> {
  const { clock, port, status, token } = options;
  return await serveLivePage({
    clock,
    realClock,
    port,
    status,
    title: ({ file }) => file,
    main: mainOf,
    style: STYLE,
    reply: (url) => replyOf(options, url),
    actions: ACTIONS,
    secret: SECRET,
    token,
    forOthers,
  });
}
