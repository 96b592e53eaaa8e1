import type { Child, Exit, Launch, ProcessTable } from "../core/process-table.ts";
import type { Roster } from "./roster.ts";

/** Options for a {@link FencedTable}. */
export interface FencedTableOptions {
  readonly roster: Pick<Roster, "add" | "mark">;
  /** The token of the term. */
  readonly token: number;
  readonly isLeader: () => boolean;
}

/** The processes of a leader: they are on the roster, and none is started once it leads no more. */
export class FencedTable implements ProcessTable {
  readonly #table: ProcessTable;
  readonly #options: FencedTableOptions;

  constructor(table: ProcessTable, options: FencedTableOptions) {
    this.#table = table;
    this.#options = options;
  }

  start(launch: Launch): Child {
    const { roster, token, isLeader } = this.#options;
    // It may have been asleep since its controller decided this.
    if (!isLeader()) return unstarted(Promise.resolve("another supervisor may lead by now"));
    const env = { ...launch.env, ...roster.mark(token) };
    const child = this.#table.start({ ...launch, env });
    if (child.pid === undefined) return child;
    try {
      const entry = roster.add(token, child.pid);
      void child.exited.then(() => entry[Symbol.dispose]());
    } catch (error) {
      // The next leader would know of it by its mark alone.
      child.signal("SIGKILL");
      const why = `it could not be added to the roster: ${(error as Error).message}`;
      return unstarted(child.exited.then(() => why));
    }
    if (!isLeader()) child.signal("SIGKILL");
    return child;
  }

  alive(): readonly number[] {
    return this.#table.alive();
  }

  killAll(): void {
    this.#table.killAll();
  }
}

function unstarted(why: Promise<string>): Child {
  const exited = why.then((message): Exit => ({ kind: "error", message }));
  return { pid: undefined, exited, signal: () => undefined };
}
