import type { Clock } from "@holdfast/clock";
import { servePage, type WebServer } from "../../web/serve-page.ts";
import type { ProgramDatabase } from "../database/program-database.ts";
import type { Delivery } from "../delivery.ts";
import type { Inbox } from "../receiver/inbox.ts";
import { actionsOf } from "./actions.ts";
import type { Board } from "./board.ts";

/** The parts of a run that its page shows and changes. */
export interface OpenPageOptions {
  readonly clock: Clock;
  readonly board: Board;
  readonly delivery: Pick<Delivery, "kill">;
  readonly tables: Pick<ProgramDatabase, "store">;
  readonly inbox: Pick<Inbox, "repair">;
}

/**
 * Serves the page of a run on 127.0.0.1.
 *
 * @param port - 0 takes a free one; undefined for no page
 */
export async function openPage(
  port: number | undefined,
  { clock, board, delivery, tables, inbox }: OpenPageOptions,
): Promise<WebServer | undefined> {
  if (port === undefined) return undefined;
  const replay = async (): Promise<number> => {
    inbox.repair();
    return await tables.store.replay("all", Math.floor(clock.now()));
  };
  const kill = (worker: string): boolean => delivery.kill(worker);
  return await servePage({
    clock,
    port,
    status: board,
    page: "outbox/web/page",
    actions: actionsOf({ board, kill, replay }),
  });
}
