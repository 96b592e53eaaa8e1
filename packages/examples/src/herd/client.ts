import type { Clock } from "@holdfast/clock";
import { type BackoffStrategy, backoffUntil } from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import type { Server } from "./server.ts";

/** Options shared by all clients of a server. */
export interface Connection {
  readonly clock: Clock;
  readonly server: Server;
  readonly backoff: BackoffStrategy;
}

/** Calls the server until it has been served once. */
export async function client({ clock, server, backoff }: Connection): Promise<void> {
  const served = new AbortController();
  const call = async (): Promise<void> => {
    if ((await server.call()) === "accepted") served.abort();
  };
  await backoffUntil(call, backoffManager(backoff, { clock }), true, served.signal);
}
