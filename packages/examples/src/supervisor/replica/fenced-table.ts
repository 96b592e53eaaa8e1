import type { Child, Exit, Launch, ProcessTable } from "../core/process-table.ts";
import type { Roster } from "./roster.ts";

/** What a {@link FencedTable} goes by. */
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
    if (!isLeader()) return refusal();
    const env = { ...launch.env, ...roster.mark(token) };
    const child = this.#table.start({ ...launch, env });
    if (child.pid === undefined) return child;
    const entry = roster.add(token, child.pid);
    void child.exited.then(() => entry[Symbol.dispose]());
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

function refusal(): Child {
  const exit: Exit = { kind: "error", message: "another supervisor may lead by now" };
  return { pid: undefined, exited: Promise.resolve(exit), signal: () => undefined };
}
