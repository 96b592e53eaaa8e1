import { timingSafeEqual } from "node:crypto";
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
import type { Snapshot, SnapshotSource } from "./snapshot.ts";

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
  /** What a request for output or a restart has to show; undefined to serve neither. `status` holds no output. */
  readonly token?: string | undefined;
  /** What processes print included. */
  readonly wholeStatus?: () => Snapshot;
  /** The last lines of a process; undefined if there is none of the name. */
  readonly linesOf?: (name: string) => readonly string[] | undefined;
  /** Returns false if there is none of the name. */
  readonly restart?: (name: string) => boolean;
}

/** Paths for the user of the supervisor only. */
const PRIVATE: ReadonlySet<string> = new Set(["/status", "/logs", "/restart"]);

function replyOf(options: ServeOptions, { pathname, searchParams }: URL): Reply | undefined {
  const { status, alive = [], ready = [], wholeStatus = () => status.snapshot() } = options;
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
      return jsonReply(200, wholeStatus());
    case "/logs":
      return logsReply(options, name);
    case "/restart":
      return restartReply(options, name);
    default:
      return undefined;
  }
}

const NONE = textReply(404, "no such process");

function logsReply({ linesOf }: ServeOptions, name: string): Reply {
  const lines = linesOf?.(name);
  return lines === undefined ? NONE : jsonReply(200, lines);
}

function restartReply({ restart }: ServeOptions, name: string): Reply {
  return restart?.(name) === true ? textReply(200, "restarting") : NONE;
}

/** Other users of this machine can connect; the token is in a file that they cannot read. */
function hasToken(token: string | undefined, authorization: string): boolean {
  if (token === undefined) return false;
  const [given, wanted] = [Buffer.from(authorization), Buffer.from(`Bearer ${token}`)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/**
 * Serves the page of a supervisor, its data and its health on 127.0.0.1, as {@link serveLivePage} does.
 *
 * | Path | |
 * | --- | --- |
 * | `/healthz`, `/readyz` | 200 or 503; `?verbose` for JSON |
 * | `/metrics` | metrics for Prometheus |
 * | `/status`, `/logs`, POST `/restart` | for `holdfast run status`, `logs` and `restart`, with the token |
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
    actions: new Set(["/restart"]),
    refusal: (path, { authorization = "" }) =>
      PRIVATE.has(path) && !hasToken(token, authorization)
        ? textReply(403, "Only the user who runs this supervisor may do this.")
        : undefined,
  });
}
