import type { Socket } from "node:net";
import type { Clock } from "@holdfast/clock";
import { EXIT } from "../../exit-code.ts";
import { ProcessGroup } from "../../process-group.ts";
import type { Child, Exit, Launch, ProcessTable } from "../core/process-table.ts";
import type { ProcessOutput } from "./process-output.ts";
import type { Roster } from "./roster.ts";

/** Options for {@link RealProcessTable}. */
export interface RealProcessTableOptions {
  readonly clock: Clock;
  readonly output: ProcessOutput;
  /** Where started processes are noted, for the next supervisor; undefined for nowhere. */
  readonly roster?: Roster | undefined;
  readonly onProblem: (message: string) => void;
}

/** How long the rest of the output of an ended process may take, in milliseconds: a daemon may keep the pipe open. */
const REST = 200;

/** Real processes, each a {@link ProcessGroup}. However this program ends, short of SIGKILL, no group outlives it. */
export class RealProcessTable implements ProcessTable {
  readonly #options: RealProcessTableOptions;
  readonly #groups = new Set<ProcessGroup>();

  constructor(options: RealProcessTableOptions) {
    this.#options = options;
  }

  start(launch: Launch): Child {
    const { name, command, args, cwd } = launch;
    const { clock, output, roster, onProblem } = this.#options;
    const group = ProcessGroup.start(
      { file: command, args },
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...launch.env, ...roster?.mark },
        cwd,
        keepsTerminal: false,
        clock,
        onProblem: (message) => onProblem(`${name}: ${message}`),
      },
    );
    const { pid } = group.child;
    if (pid === undefined) {
      const exited = group.exited.then(({ code, problem = "" }): Exit => {
        return { kind: "error", code, message: problem };
      });
      return { pid, exited, signal: () => undefined, memory: () => 0 };
    }
    this.#groups.add(group);
    const entry = roster?.add(pid);
    const read = output.follow(name, [group.child.stdout, group.child.stderr]);
    let isStopping = false;
    let isDraining = false;
    const signal = (which: NodeJS.Signals): void => {
      isStopping = true;
      if (which === "SIGKILL") return void group.killAfter(0);
      if (isDraining) return; // What its first process has left is told to stop.
      group.signal(which);
      group.signal("SIGCONT"); // A stopped process could not react.
    };
    const live = async (): Promise<Exit> => {
      const exit = await group.exited;
      // The grace belongs to the whole group, not to its first process.
      if (isStopping) await group.empty();
      else {
        isDraining = true;
        await group.stop(launch.grace);
      }
      await Promise.race([read, clock.sleep(REST)]);
      // What a daemon prints later is still read, and keeps nothing running.
      for (const stream of [group.child.stdout, group.child.stderr])
        (stream as Socket | null)?.unref();
      this.#groups.delete(group);
      // Its entry stays: the next start looks after it.
      if (group.problem !== undefined)
        return { kind: "error", code: EXIT.failed, message: group.problem, isLost: true };
      entry?.[Symbol.dispose]();
      if (exit.code === 0) return { kind: "code", code: 0 };
      const words = output.lastWords(name);
      if (exit.signal === undefined) return { kind: "code", code: exit.code, words };
      return { kind: "signal", signal: exit.signal, words };
    };
    return { pid, exited: live(), signal, memory: () => group.memory() };
  }

  killAll(): void {
    for (const group of this.#groups) void group.killAfter(0);
  }
}
