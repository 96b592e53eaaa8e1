import { realClock } from "@holdfast/clock";
import { NOTHING_SEEN } from "../../../src/outbox/observe.ts";
import type { Progress } from "../../../src/outbox/progress.ts";
import { actionsOf } from "../../../src/outbox/web/actions.ts";
import { Board } from "../../../src/outbox/web/board.ts";
import { servePage } from "../../../src/web/serve-page.ts";

const WORKING: Progress = {
  ...NOTHING_SEEN,
  state: "running",
  trouble: undefined,
  elapsed: 5_000,
  messages: 100,
  open: 40,
  takenBack: 1,
  killed: 0,
  expired: 0,
  statuses: { pending: 3, retrying: 5, delivered: 50, dead: 2 },
  received: { attempts: 90, open: 4, effects: 50, duplicates: 7, overlaps: 0 },
  workers: [
    { name: "worker-1", pid: 101, state: "working" },
    { name: "worker-2", pid: 102, state: "working" },
    { name: "worker-3", pid: undefined, state: "starting" },
  ],
};

/** A run without processes behind the page of a real one: its buttons change what the page shows. */
export async function outboxPage(changes: Partial<Progress> = {}) {
  const tables = { name: "pglite", dialect: undefined as never } as const;
  const inbox = { name: "receiver" } as const;
  const board = new Board({ clock: realClock, tables, inbox });
  let progress: Progress = { ...WORKING, ...changes };
  const show = (more: Partial<Progress>): void => {
    progress = { ...progress, ...more };
    board.show(progress);
  };
  show({});
  /** Workers that have ended without a word to the page. */
  const ended = new Set<string>();
  const kill = (name: string): boolean => {
    const { workers, killed } = progress;
    if (ended.has(name)) return false;
    board.log("was killed", name);
    show({ workers: workers.filter((worker) => worker.name !== name), killed: killed + 1 });
    return true;
  };
  const replay = async (): Promise<number> => {
    const { dead, pending } = progress.statuses;
    show({ statuses: { ...progress.statuses, dead: 0, pending: pending + dead } });
    return dead;
  };
  const server = await servePage({
    clock: realClock,
    port: 0,
    status: board,
    page: "outbox/web/page",
    actions: actionsOf({ board, kill, replay }),
  });
  const close = async (): Promise<void> => await server[Symbol.asyncDispose]();
  return { url: server.url, board, ended, show, [Symbol.asyncDispose]: close };
}
