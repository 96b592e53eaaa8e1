import { isDeepStrictEqual } from "node:util";
import { type ProcessSpec, portsOf } from "../manifest/manifest.ts";

/** One step from the actual to the desired processes. */
export interface Action {
  readonly kind: "start" | "restart" | "update" | "stop";
  readonly name: string;
}

type Specs = ReadonlyMap<string, ProcessSpec>;

/** Whether two specs are the same program. All else can change while it runs. */
export function isSameProgram(a: ProcessSpec, b: ProcessSpec): boolean {
  const program = (spec: ProcessSpec): object => {
    const { command, args, env, cwd } = spec;
    const [port] = portsOf(spec);
    return { command, args, env, cwd, port }; // The port is in its environment.
  };
  return isDeepStrictEqual(program(a), program(b));
}

/** The steps that lead from `current` to `wanted`: stops first, then the order of the manifest. */
export function diff(current: Specs, wanted: Specs): Action[] {
  const actions: Action[] = [];
  for (const name of current.keys()) if (!wanted.has(name)) actions.push({ kind: "stop", name });
  for (const [name, spec] of wanted) {
    const running = current.get(name);
    if (running === undefined) actions.push({ kind: "start", name });
    else if (!isSameProgram(running, spec)) actions.push({ kind: "restart", name });
    else if (!isDeepStrictEqual(running, spec)) actions.push({ kind: "update", name });
  }
  return actions;
}
