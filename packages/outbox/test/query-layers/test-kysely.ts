import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { type ControlledTransaction, Kysely, sql } from "kysely";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { PGliteDialect } from "./pglite-dialect.ts";
import { type QueryLayer, testQueryLayer } from "./query-layer.contract.ts";

interface Schema {
  readonly orders: { readonly number: number };
}

type Tx = ControlledTransaction<Schema, string[]>;

/** Messages saved in a transaction of Kysely. */
export function testKysely(): void {
  testQueryLayer("a transaction of Kysely", async (): Promise<QueryLayer<Tx>> => {
    const pglite = await emptyPGlite();
    const db = new Kysely<Schema>({ dialect: new PGliteDialect(pglite) });
    return {
      database: new PGliteDatabase(pglite),
      async transaction(work) {
        const tx = await db.startTransaction().execute();
        try {
          const value = await work(tx);
          await tx.commit().execute();
          return value;
        } catch (error) {
          await tx.rollback().execute();
          throw error;
        }
      },
      async nested(tx, work) {
        const savepoint = await tx.savepoint("nested").execute();
        try {
          await work(savepoint);
          await savepoint.releaseSavepoint("nested").execute();
        } catch (error) {
          await savepoint.rollbackToSavepoint("nested").execute();
          throw error;
        }
      },
      run: (tx, { parts, params }) => sql(parts, ...params).execute(tx),
      order: (tx, number) => tx.insertInto("orders").values({ number }).execute(),
    };
  });
}
