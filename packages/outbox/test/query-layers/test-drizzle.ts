import { PGliteDatabase } from "@holdfast/outbox/pglite";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pglite";
import { emptyPGlite } from "../../../../test/empty-pglite.ts";
import { type QueryLayer, testQueryLayer } from "./query-layer.contract.ts";

type Db = ReturnType<typeof drizzle>;
type Tx = Parameters<Parameters<Db["transaction"]>[0]>[0];

/** Messages saved in a transaction of Drizzle. */
export function testDrizzle(): void {
  testQueryLayer("a transaction of Drizzle", async (): Promise<QueryLayer<Tx>> => {
    const client = await emptyPGlite();
    const db = drizzle({ client });
    return {
      database: new PGliteDatabase(client),
      transaction: (work) => db.transaction(work),
      nested: (tx, work) => tx.transaction(work),
      run: (tx, { parts, params }) => tx.execute(sql(parts, ...params)),
      order: (tx, number) => tx.execute(sql`INSERT INTO orders (number) VALUES (${number})`),
    };
  });
}
