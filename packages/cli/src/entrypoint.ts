import { constants } from "node:os";
import { basename } from "node:path";
import { commandOf, minds, processState } from "./proc.ts";

const { SIGTERM } = constants.signals;

/**
 * Why a container or a service that starts this process does not end it well, and the next step; undefined if it does.
 * Known on Linux.
 */
export function entrypointProblem(): string | undefined {
  if (process.pid === 1) return "runs as pid 1: use docker run --init to reap orphans";
  const starters = startersOf(process.ppid);
  // A runner may start another one: the outermost is meant.
  const runner = starters.findLast(({ name }) => name !== undefined);
  if (runner !== undefined && (runner.pid === 1 || parentOf(runner.pid) === 1))
    return `${runner.name} is the entrypoint, and loses SIGTERM: start node_modules/.bin/holdfast itself`;
  const first = starters.at(-1);
  if (first?.pid !== 1 || first.name !== undefined || minds(1, SIGTERM)) return undefined;
  return "a shell is the entrypoint, and loses SIGTERM: let it start holdfast with exec, as its last command";
}

interface Starter {
  readonly pid: number;
  /** Undefined for a shell. */
  readonly name: string | undefined;
}

/** A process, its parent and so on, as long as they are shells and runners of scripts. */
function startersOf(pid: number): readonly Starter[] {
  if (pid <= 0) return [];
  const [program = "", script = ""] = commandOf(pid);
  const name = runnerOf(program, script);
  const isShell = /^-?(?:ba|da|a|z|k)?sh$/.test(basename(program));
  return name === undefined && !isShell ? [] : [{ pid, name }, ...startersOf(parentOf(pid))];
}

/** A program that runs scripts, and ends at SIGTERM or ignores it without a word to them. pnpm, yarn 4 and bun hand it on. */
function runnerOf(program: string, script: string): string | undefined {
  // npm writes all of its command line in the place of its program.
  const [title = ""] = program.split(" ");
  const isNode = /^node/.test(basename(title));
  if (isNode && script === "--run") return "node --run";
  const word = basename(isNode ? script : title);
  if (/^np[mx](?:-cli\.js)?$/.test(word)) return "npm";
  const isYarn1 = process.env["npm_config_user_agent"]?.startsWith("yarn/1.") === true;
  return isYarn1 && /^yarn/.test(word) ? "yarn 1" : undefined;
}

function parentOf(pid: number): number {
  return processState(pid)?.parent ?? 0;
}
