import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync } from "node:fs";
import type { Child, Exit, Launch, ProcessTable, StopSignal } from "../core/process-table.ts";
import type { ProcessLogs } from "./process-logs.ts";
import { signalGroup } from "./signal-group.ts";

/** The failure with its next step. */
function explain(error: NodeJS.ErrnoException, { command, cwd }: Launch): string {
  if (!existsSync(cwd)) return `its directory ${cwd} does not exist: create it or correct "cwd"`;
  if (error.code === "ENOENT") return `${command} was not found: install it or correct "command"`;
  if (error.code === "EACCES") return `${command} may not be run: try chmod +x`;
  return error.message;
}

function unstartable(message: string): Child {
  const exited = Promise.resolve<Exit>({ kind: "error", message });
  return { pid: undefined, exited, signal: () => undefined };
}

/**
 * Real processes, each the leader of its own process group, so that signals reach its descendants. When a
 * leader exits, the rest of its group is killed, as in a container.
 *
 * However this program ends, short of SIGKILL, no group outlives it. A descendant that makes a
 * session of its own (`setsid`, a daemon) leaves its group and is beyond reach.
 */
export class RealProcessTable implements ProcessTable {
  readonly #logs: ProcessLogs;
  /** The leaders that have not exited. */
  readonly #groups = new Set<number>();

  constructor(logs: ProcessLogs) {
    this.#logs = logs;
    process.once("exit", () => this.killAll());
  }

  start(launch: Launch): Child {
    const { name, command, args, cwd } = launch;
    const env = { ...process.env, ...launch.env };
    let log: number | undefined;
    try {
      log = this.#logs.open(name);
      const stdio = ["ignore", log, log] as const;
      const child = spawn(command, args, { cwd, env, detached: true, stdio: [...stdio] });
      return this.#adopt(child, launch);
    } catch (error) {
      return unstartable(explain(error as NodeJS.ErrnoException, launch));
    } finally {
      if (log !== undefined) closeSync(log);
    }
  }

  alive(): readonly number[] {
    return [...this.#groups];
  }

  killAll(): void {
    for (const leader of this.#groups) signalGroup(leader, "SIGKILL");
  }

  #adopt(child: ChildProcess, launch: Launch): Child {
    const { pid } = child;
    if (pid !== undefined) this.#groups.add(pid);
    const exited = new Promise<Exit>((resolve) => {
      child.once("error", (error) => resolve({ kind: "error", message: explain(error, launch) }));
      child.once("exit", (code, signal) => {
        if (pid !== undefined) this.#forget(pid);
        resolve(this.#exitOf(code, signal, launch.name));
      });
    });
    const signal = (which: StopSignal): void => {
      if (pid !== undefined && this.#groups.has(pid)) signalGroup(pid, which);
    };
    return { pid, exited, signal };
  }

  #forget(leader: number): void {
    signalGroup(leader, "SIGKILL");
    this.#groups.delete(leader);
  }

  #exitOf(code: number | null, signal: NodeJS.Signals | null, name: string): Exit {
    if (code === 0) return { kind: "code", code };
    const words = this.#logs.lastWords(name);
    return signal === null
      ? { kind: "code", code: code ?? 1, words }
      : { kind: "signal", signal, words };
  }
}
