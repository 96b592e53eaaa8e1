import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { PostgresStore } from "@holdfast/outbox/postgres";
import { expect, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { testListening, until } from "../postgres/listening.contract.ts";

/** Relays that listen on a PGlite, and the end of listening. */
export function testPGliteListening(): void {
  testListening("PGlite", async () => {
    const database = new PGliteDatabase(await emptyPGlite());
    return { shop: database, sender: database };
  });

  it("PGlite stops listening on abort, and leaves no listener", async () => {
    const pglite = await emptyPGlite();
    await using database = new PGliteDatabase(pglite);
    const store = new PostgresStore(database);
    let notifications = 0;
    const stop = new AbortController();
    const listening = store.listen?.(() => notifications++, stop.signal);
    const channels = async (): Promise<unknown[]> => {
      const { rows } = await pglite.query<{ channel: string }>(
        "SELECT pg_listening_channels() AS channel",
      );
      return rows.map(({ channel }) => channel);
    };
    await until(() => notifications === 1); // it listens
    expect(await channels()).toEqual(["outbox_saved"]);
    stop.abort();
    await listening;
    await store.notify();
    expect([await channels(), notifications, abortListeners(stop.signal)]).toEqual([[], 1, 0]);
    await store.listen?.(() => notifications++, stop.signal);
    expect(await channels()).toEqual([]);
    const early = new AbortController();
    const begun = store.listen?.(() => notifications++, early.signal);
    early.abort();
    await begun;
    expect([await channels(), notifications]).toEqual([[], 1]);
  });
}
