import { type Reply, textReply } from "../../web/reply.ts";
import type { Route } from "../../web/serve-page.ts";
import type { Board } from "./board.ts";

/** Everything that a button of the page can do. */
export interface Controls {
  readonly board: Pick<Board, "log">;
  /** Kills a worker; false if there is none of this name. */
  readonly kill: (worker: string) => boolean;
  /** Repairs the receiver and replays the dead letters. Resolves with their number. */
  readonly replay: () => Promise<number>;
}

/**
 * The POST requests of the page. Each responds with a sentence.
 *
 * | Path | |
 * | --- | --- |
 * | `/kill?worker=worker-1` | kills a worker with SIGKILL |
 * | `/replay` | repairs the receiver and replays the dead letters |
 */
export function actionsOf({ board, kill, replay }: Controls): ReadonlyMap<string, Route> {
  const kills = ({ searchParams }: URL): Reply => {
    const worker = searchParams.get("worker") ?? "";
    if (!kill(worker)) return textReply(409, `Worker "${worker}" is not running.`);
    return textReply(200, `${worker} was killed. A new worker replaces it.`);
  };
  const replays = async (): Promise<Reply> => {
    const count = await replay();
    const letters = count === 1 ? "1 dead letter is" : `${count} dead letters are`;
    const text = `${letters} pending again, and the receiver is repaired`;
    board.log(text);
    return textReply(200, `${text}.`);
  };
  return new Map<string, Route>([
    ["/kill", kills],
    ["/replay", replays],
  ]);
}
