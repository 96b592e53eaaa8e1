import type { Database, OutboxStore } from "@holdfast/outbox/store";
import { beforeAll, describe, expect, it } from "vitest";
import { idOf } from "../sample.ts";

const T = 1_700_000_000_000;
const request = { relay: "a", now: T + 1e6, until: T + 2e6, limit: 10 };

/** The tables of a store and the store in them, which exist when a test runs. */
export interface InvalidRowWorld {
  readonly database: () => Database;
  readonly store: () => OutboxStore<never>;
  /** Saves messages at 1,700,000,000,000 ms. */
  readonly save: (...numbers: number[]) => Promise<void>;
  /** A value that the column `factor` takes and a message does not, in SQL. */
  readonly badFactor: string;
}

/** Rows that are not messages, in every SQL store. */
export function testInvalidRows({ database, store, save, badFactor }: InvalidRowWorld): void {
  const change = (assignment: string): string =>
    `UPDATE outbox_message SET ${assignment} WHERE id = '${idOf(2)}'`;

  describe("a row that is not a message", () => {
    it.each([
      ["a payload that is cut off", `payload = '{"order":'`, /payload: is not JSON/],
      [
        "headers that are no texts",
        `headers = '{"trace":1}'`,
        /headers: is not an object of texts/,
      ],
      ["headers that are a list", `headers = '["a"]'`, /headers: is not an object of texts/],
      ["no attempts", "max_attempts = 0", /max_attempts/],
      [`a factor of ${badFactor}`, `factor = ${badFactor}`, /factor/],
    ])("with %s is dead with its reason, and others continue", async (_, assignment, problem) => {
      await save(1, 2, 3);
      await database().query(change(assignment));
      const { claims, invalid } = await store().claim(request);
      expect(claims.map(({ message }) => message.id)).toEqual([idOf(1), idOf(3)]);
      expect(invalid).toEqual([{ id: idOf(2), problem: expect.stringMatching(problem) }]);
      expect(await store().claim(request)).toEqual({ claims: [], invalid: [] });
      const [row] = await database().query(
        `SELECT status, last_error, claimed_by FROM outbox_message WHERE id = '${idOf(2)}'`,
      );
      expect(row).toEqual({
        status: "dead",
        claimed_by: null,
        last_error: expect.stringMatching(problem),
      });
      expect(await store().find(idOf(2))).toBeUndefined();
      expect(
        await store().deadLetters({ topic: undefined, after: undefined, limit: 9 }),
      ).toMatchObject([{ id: idOf(2), key: "order-2", lastError: expect.stringMatching(problem) }]);
    });

    it("is also found among expired claims", async () => {
      await save(1, 2);
      await store().claim({ relay: "a", now: T, until: T + 1, limit: 2 });
      await database().query(change("payload = ''"));
      const { claims, invalid } = await store().expired(T + 1, 10);
      expect(claims.map(({ message }) => message.id)).toEqual([idOf(1)]);
      expect(invalid.map(({ id }) => id)).toEqual([idOf(2)]);
      expect((await store().expired(T + 1, 10)).invalid).toEqual([]);
    });

    describe("because the schema has changed", () => {
      beforeAll(async () => {
        await database().query("ALTER TABLE outbox_message DROP CONSTRAINT outbox_message_status");
      });

      it("with an unknown status is dead with its reason", async () => {
        await save(1);
        await database().query("UPDATE outbox_message SET status = 'sending'");
        const { invalid } = await store().claim(request);
        expect(invalid).toEqual([{ id: idOf(1), problem: expect.stringContaining("status") }]);
        expect(await store().counts()).toMatchObject({ dead: 1 });
      });

      it("stays claimed, and is reported with both reasons, if marking it dead fails", async () => {
        await save(1);
        await database().query("UPDATE outbox_message SET status = 'sending'");
        await database().query(
          "ALTER TABLE outbox_message ADD CONSTRAINT nothing_dies CHECK (status <> 'dead')",
        );
        const { invalid } = await store().claim(request);
        expect(invalid[0]?.problem).toMatch(/status.*marking it dead failed.*nothing_dies/);
        expect((await store().claim(request)).invalid).toEqual([]);
        expect((await store().expired(request.until, 10)).invalid).toHaveLength(1);
        await database().query("ALTER TABLE outbox_message DROP CONSTRAINT nothing_dies");
      });
    });
  });
}
