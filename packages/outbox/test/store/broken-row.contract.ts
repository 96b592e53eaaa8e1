import { beforeAll, describe, expect, it } from "vitest";
import type { Database } from "../../src/store/database.ts";
import type { OutboxStore } from "../../src/store/outbox-store.ts";
import { idOf } from "../sample.ts";

const T = 1_700_000_000_000;
const request = { worker: "a", now: T + 1e6, until: T + 2e6 };

/** The tables of a store and the store in them, which exist when a test runs. */
export interface BrokenRowWorld {
  readonly database: () => Database;
  readonly store: () => OutboxStore<never>;
  /** Saves messages at 1,700,000,000,000 ms. */
  readonly save: (...numbers: number[]) => Promise<void>;
  /** A value that the column `backoff_factor` takes and a message does not, in SQL. */
  readonly badFactor: string;
}

/** Rows that are not messages, in every SQL store. */
export function testBrokenRows({ database, store, save, badFactor }: BrokenRowWorld): void {
  const contentOf = (number: number): string => `WHERE message_id = '${idOf(number)}'`;
  const rowOf = (number: number): string => `WHERE id = '${idOf(number)}'`;

  describe("a row that is not a message", () => {
    it.each([
      [
        "JSON that is cut off",
        `UPDATE outbox_content SET content = '{"order":' ${contentOf(2)}`,
        /content: is not JSON/,
      ],
      ["no content", `DELETE FROM outbox_content ${contentOf(2)}`, /content: is missing/],
      [
        "no retries",
        `UPDATE outbox_message SET max_retry_times = 0 ${rowOf(2)}`,
        /max_retry_times/,
      ],
      [
        `a factor of ${badFactor}`,
        `UPDATE outbox_message SET backoff_factor = ${badFactor} ${rowOf(2)}`,
        /backoff_factor/,
      ],
    ])("with %s is dead with its reason, and others continue", async (_, change, problem) => {
      await save(1, 2, 3);
      await database().query(change);
      const { claims, broken } = await store().claimDue(request, 10);
      expect(claims.map(({ message }) => message.id)).toEqual([idOf(1), idOf(3)]);
      expect(broken).toEqual([{ id: idOf(2), problem: expect.stringMatching(problem) }]);
      expect(await store().claimDue(request, 10)).toEqual({ claims: [], broken: [] });
      const [row] = await database().query(
        `SELECT message_status, last_error, claimed_by FROM outbox_message ${rowOf(2)}`,
      );
      expect(row).toEqual({
        message_status: "dead",
        claimed_by: null,
        last_error: expect.stringMatching(problem),
      });
      expect(await store().find(idOf(2))).toBeUndefined();
    });

    it("is also found among orphaned claims", async () => {
      await save(1, 2);
      await store().claimSaved([idOf(1), idOf(2)], { worker: "a", now: T, until: T + 1 });
      await database().query(`UPDATE outbox_content SET content = '' ${contentOf(1)}`);
      const { claims, broken } = await store().orphans(T + 1, 10);
      expect(claims.map(({ message }) => message.id)).toEqual([idOf(2)]);
      expect(broken.map(({ id }) => id)).toEqual([idOf(1)]);
      expect((await store().orphans(T + 1, 10)).broken).toEqual([]);
    });

    describe("because the schema has changed", () => {
      beforeAll(async () => {
        await database().query("ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_status");
      });

      it("with an unknown status is dead with its reason", async () => {
        await save(1);
        await database().query("UPDATE outbox_message SET message_status = 'sending'");
        const { broken } = await store().claimDue(request, 10);
        expect(broken).toEqual([
          { id: idOf(1), problem: expect.stringContaining("message_status") },
        ]);
        expect(await store().counts()).toMatchObject({ dead: 1 });
      });

      it("stays claimed, and is reported with both reasons, if marking it dead fails", async () => {
        await save(1);
        await database().query("UPDATE outbox_message SET message_status = 'sending'");
        await database().query(
          "ALTER TABLE outbox_message ADD CONSTRAINT nothing_dies CHECK (message_status <> 'dead')",
        );
        const { broken } = await store().claimDue(request, 10);
        expect(broken[0]?.problem).toMatch(/message_status.*marking it dead failed.*nothing_dies/);
        expect((await store().claimDue(request, 10)).broken).toEqual([]);
        expect((await store().orphans(request.until, 10)).broken).toHaveLength(1);
        await database().query("ALTER TABLE outbox_message DROP CONSTRAINT nothing_dies");
      });
    });
  });
}
