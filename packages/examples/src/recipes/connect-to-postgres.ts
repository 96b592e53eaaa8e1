import { Socket } from "node:net";
import { onAbort } from "@holdfast/clock";
import pg from "pg";

/** Opens a connection. An abort closes its socket at once, at any stage of the login. */
export async function connectToPostgres(url: string, signal: AbortSignal): Promise<pg.Client> {
  const socket = new Socket();
  const client = new pg.Client({ connectionString: url, keepAlive: true, stream: () => socket });
  client.on("error", () => {}); // without a listener the process would exit; "end" follows
  using _closing = onAbort(signal, () => socket.destroy());
  await client.connect();
  return client;
}
