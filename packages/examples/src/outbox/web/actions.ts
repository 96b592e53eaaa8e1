import { type Reply, textReply } from "../../web/reply.ts";
import type { Answer } from "../../web/serve-page.ts";
import type { Board } from "./board.ts";

/** Everything that a button of the page can do. */
export interface Controls {
  readonly board: Pick<Board, "log" | "switchOf">;
  /** Kills a worker; false if there is none of this name. */
  readonly kill: (worker: string) => boolean;
  /** Repairs the receiver and makes the dead messages pending again. Resolves with their number. */
  readonly replay: () => Promise<number>;
}

/**
 * The POST requests of the page. Each answers with a sentence.
 *
 * | Path | |
 * | --- | --- |
 * | `/kill?worker=worker-1` | kills a worker with SIGKILL |
 * | `/disconnect?service=database` | breaks all connections of the workers to it, and each new one |
 * | `/reconnect?service=database` | lets them connect again |
 * | `/replay` | repairs the receiver and sends the dead messages again |
 */
export function actionsOf({ board, kill, replay }: Controls): ReadonlyMap<string, Answer> {
  const kills = ({ searchParams }: URL): Reply => {
    const worker = searchParams.get("worker") ?? "";
    if (!kill(worker)) return textReply(409, `Worker "${worker}" is not running.`);
    return textReply(200, `${worker} was killed. A new worker replaces it.`);
  };
  const turns =
    (state: "disconnected" | "connected") =>
    ({ searchParams }: URL): Reply => {
      const service = searchParams.get("service") ?? "";
      const found = board.switchOf(service);
      if (found === undefined)
        return textReply(409, `Service "${service}" cannot be disconnected.`);
      if (found.state === state) return textReply(409, `The ${service} is already ${state}.`);
      if (state === "disconnected") found.disconnect();
      else found.reconnect();
      const text =
        state === "disconnected" ? "was disconnected from the workers" : "was reconnected";
      board.log(text, service);
      return textReply(200, `The ${service} ${text}.`);
    };
  const replays = async (): Promise<Reply> => {
    const count = await replay();
    const messages = count === 1 ? "1 dead message is" : `${count} dead messages are`;
    const text = `${messages} pending again, and the receiver is repaired`;
    board.log(text);
    return textReply(200, `${text}.`);
  };
  return new Map<string, Answer>([
    ["/kill", kills],
    ["/disconnect", turns("disconnected")],
    ["/reconnect", turns("connected")],
    ["/replay", replays],
  ]);
}
