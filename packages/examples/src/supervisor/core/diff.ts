import { isDeepStrictEqual } from "node:util";
import type { ProcessSpec } from "../manifest/manifest.ts";

/** One step from the actual to the desired processes. */
export interface Action {
  readonly kind: "start" | "restart" | "stop";
  readonly name: string;
}

type Specs = ReadonlyMap<string, ProcessSpec>;

/** The steps that lead from `current` to `wanted`: stops first, then the order of the manifest. */
export function diff(current: Specs, wanted: Specs): Action[] {
  const actions: Action[] = [];
  for (const name of current.keys()) if (!wanted.has(name)) actions.push({ kind: "stop", name });
  for (const [name, spec] of wanted) {
    const running = current.get(name);
    if (running === undefined) actions.push({ kind: "start", name });
    else if (!isDeepStrictEqual(running, spec)) actions.push({ kind: "restart", name });
  }
  return actions;
}
