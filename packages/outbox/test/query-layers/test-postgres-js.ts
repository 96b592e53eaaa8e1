import type { Transaction } from "@electric-sql/pglite";
import { Outbox } from "@holdfast/outbox";
import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { migrate, PostgresStore } from "@holdfast/outbox/postgres";
import { expect, it } from "vitest";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { idOf, sample } from "../sample.ts";

/** The values that postgres.js takes without a helper of its own. */
type Serializable = null | boolean | number | string | Date | Uint8Array;

/** A tag as that of postgres.js: it takes a call for a template if `strings.raw` is an array. */
function tagOf(tx: Transaction) {
  return async (strings: TemplateStringsArray, ...args: readonly Serializable[]) => {
    if (!Array.isArray(strings.raw)) throw new Error("a helper, and no template");
    let text = strings[0] ?? "";
    for (let i = 1; i < strings.length; i++) text += `$${i}${strings[i]}`;
    return (await tx.query(text, [...args])).rows;
  };
}

/** Statements run through a tag as that of postgres.js. */
export function testPostgresJs(): void {
  it("runs in a tag that recognizes templates by parts.raw, like postgres.js", async () => {
    const pglite = await emptyPGlite();
    await using database = new PGliteDatabase(pglite);
    await migrate(database);
    const store = new PostgresStore(database);
    const outbox = new Outbox({ store });
    await pglite.transaction(async (tx) => {
      const sql = tagOf(tx);
      for (const { parts, params } of outbox.statements(sql, sample(1)))
        await sql(parts, ...params);
    });
    expect(await store.find(idOf(1))).toMatchObject({ status: "pending", payload: { order: 1 } });
  });
}
