import { onAbort } from "@holdfast/clock";
import type { ProcessSpec } from "../manifest/manifest.ts";
import type { ProcessChange, StopReason } from "./event.ts";
import type { Machine } from "./machine.ts";
import type { Child, Exit, Launch, Run } from "./process-table.ts";
import { watchReadiness } from "./readiness.ts";
import { terminate } from "./terminate.ts";

/** What the supervision of one process is given. */
export interface Supervision {
  readonly machine: Machine;
  readonly report: (change: ProcessChange) => void;
  /** The grace period in force, in milliseconds; an edit of the manifest may change it. */
  readonly grace: () => number;
}

async function portOf({ readiness }: ProcessSpec, machine: Machine): Promise<number | undefined> {
  if (readiness === undefined) return undefined;
  return readiness.port === "auto" ? await machine.freePort() : readiness.port;
}

function launchOf(spec: ProcessSpec, port: number | undefined): Launch {
  const { name, command, args, cwd } = spec;
  const env = port === undefined ? spec.env : { ...spec.env, PORT: `${port}` };
  return { name, command, args, env, cwd };
}

/** Sees a started child to its end: asks whether it is ready, terminates it when `signal` aborts. */
async function attend(
  child: Child,
  check: (alive: AbortSignal) => Promise<void>,
  { machine, report, grace }: Supervision,
  signal: AbortSignal,
): Promise<Exit> {
  const life = new AbortController();
  const checking = check(life.signal);
  using _stop = onAbort(signal, (reason) => {
    const patience = grace();
    report({ type: "terminating", reason: reason as StopReason, grace: patience });
    const onKill = (): void => report({ type: "killing", grace: patience });
    void terminate(child, { clock: machine.clock, grace: patience, onKill });
  });
  const exit = await child.exited;
  life.abort();
  await checking;
  return exit;
}

/**
 * Starts a process and waits for its end, which an abort of `signal` brings about.
 *
 * @returns undefined if `signal` aborted before there was anything to start
 */
export async function runOnce(
  spec: ProcessSpec,
  supervision: Supervision,
  signal: AbortSignal,
): Promise<Run | undefined> {
  const { machine, report } = supervision;
  const port = await portOf(spec, machine).catch((error: Error) => error);
  if (signal.aborted) return undefined;
  if (port instanceof Error) return { exit: { kind: "error", message: port.message }, ran: 0 };

  const startedAt = machine.clock.monotonic();
  const child = machine.table.start(launchOf(spec, port));
  if (child.pid === undefined) return { exit: await child.exited, ran: 0 };
  report({ type: "started", pid: child.pid });

  const check = async (alive: AbortSignal): Promise<void> => {
    if (spec.readiness === undefined) return;
    const url = `http://127.0.0.1:${port}${spec.readiness.path}`;
    const tell = (ready: boolean): void => report({ type: "readiness", ready, url });
    await watchReadiness({ ...spec.readiness, url }, machine, alive, tell);
  };
  const exit = await attend(child, check, supervision, signal);
  return { exit, ran: machine.clock.monotonic() - startedAt };
}
