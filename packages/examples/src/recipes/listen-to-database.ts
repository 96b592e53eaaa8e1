import { onAbort, realClock } from "@holdfast/clock";
import { TerminalError } from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { GrpcBackoff } from "@holdfast/wait/strategies";
import pg from "pg";
import { connectToPostgres } from "./connect-to-postgres.ts";
import type { RecipeOptions } from "./recipe-options.ts";

/** Options for {@link listenToDatabase}. */
export interface ListenOptions extends RecipeOptions {
  /** Opens a connection; {@link connectToPostgres} by default. */
  readonly connect?: typeof connectToPostgres;
}

/** SQLSTATE classes that no further attempt can fix: a refused login, an unknown database. */
const MISCONFIGURED = /^(28|3D)/;

/** Prints the notifications of a PostgreSQL channel, and reconnects whenever the connection breaks. */
export async function listenToDatabase(
  url: string,
  channel: string,
  options: ListenOptions,
): Promise<void> {
  const { signal, clock = realClock, random, log = console.log } = options;
  const { connect = connectToPostgres } = options;
  const listen = async (client: pg.Client): Promise<void> => {
    const ended = new Promise((resolve) => client.once("end", resolve));
    using _closing = onAbort(signal, () => void client.end());
    client.on("notification", ({ payload = "" }) => log(payload));
    await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    log(`listening on ${channel}`);
    await ended;
    if (!signal.aborted) log("connection lost");
  };
  const onRetry = ({ error, delay }: { error: unknown; delay: number }): void => {
    if (MISCONFIGURED.test((error as { code?: string }).code ?? ""))
      throw new TerminalError(`${error}: correct the URL`, { cause: error });
    log(`${error}; next attempt in ${Math.round(delay)} ms`);
  };
  await keepConnected((attempt) => connect(url, attempt.signal), listen, {
    backoff: new GrpcBackoff({ random }),
    random,
    onRetry,
    onError: (error) => log(`${error}; connecting again`),
    onLate: (client) => client.end(),
    signal,
    clock,
  });
}
