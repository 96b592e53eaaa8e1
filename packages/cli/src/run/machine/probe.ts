import type { Clock } from "@holdfast/clock";
import { createTarget, type TargetOptions } from "../../target.ts";
import type { Probe } from "../core/machine.ts";
import { addressOf } from "../manifest/manifest.ts";

/** Asks processes of this machine. */
export function createProbe(clock: Clock, onProblem: (message: string) => void): Probe {
  const options: TargetOptions = {
    clock,
    not: false,
    method: "GET",
    status: [[200, 399]],
    follow: false,
    headers: {},
    body: undefined,
    insecure: false,
    cacert: undefined,
    proxy: false,
    onProblem,
  };
  return ({ target, env, cwd }) => {
    if (target.kind === "exec")
      return createTarget(`exec:${target.line}`, { ...options, env, cwd }).check;
    const address = addressOf(target);
    const text = target.kind === "http" ? `http://${address}${target.path}` : `tcp:${address}`;
    return createTarget(text, options).check;
  };
}
