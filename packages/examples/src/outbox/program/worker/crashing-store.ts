import type { Database } from "../../database/database.ts";
import type { Claim } from "../../store/claim.ts";
import type { Failure } from "../../store/outbox-store.ts";
import { PostgresStore } from "../../store/postgres-store.ts";
import type { Reach } from "./crash-point.ts";

/** A store whose process may die before it writes an outcome, or right after. */
export class CrashingStore extends PostgresStore {
  readonly #reach: Reach;

  constructor(database: Database, reach: Reach) {
    super(database);
    this.#reach = reach;
  }

  override async markSuccess(claim: Claim, now: number): Promise<boolean> {
    this.#reach("before-mark");
    const isDone = await super.markSuccess(claim, now);
    this.#reach("after-mark");
    return isDone;
  }

  override async markFail(claim: Claim, failure: Failure): Promise<boolean> {
    this.#reach("before-mark");
    const isDone = await super.markFail(claim, failure);
    this.#reach("after-mark");
    return isDone;
  }
}
