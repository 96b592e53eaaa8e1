import type { Clock } from "@holdfast/clock";
import { createTarget, type TargetOptions } from "../../target.ts";
import type { Probe } from "../core/machine.ts";

/** Asks processes of this machine, on both addresses of localhost. */
export function createProbe(clock: Clock): Probe {
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
  };
  return ({ target, env, cwd }) => {
    if (target.kind === "exec")
      return createTarget(`exec:${target.line}`, { ...options, env, cwd }).check;
    const { kind, port } = target;
    const text = kind === "http" ? `http://localhost:${port}${target.path}` : `tcp:${port}`;
    return createTarget(text, options).check;
  };
}
