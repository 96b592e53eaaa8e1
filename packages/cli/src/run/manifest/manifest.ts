/** When an ended process is started again; the words are those of a Kubernetes pod. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

/** State of another process that a start waits for. */
export type Condition = "ready" | "started" | "completed";

/** The waits between an exit and the next start. Durations are in milliseconds. */
export interface BackoffSpec {
  /** The first wait. */
  readonly duration: number;
  /** Growth of each delay. */
  readonly factor: number;
  /** The largest share of a wait that is added to it at random. */
  readonly jitter: number;
  /** Where growth ends, before jitter. */
  readonly cap: number;
  /**
   * The waits start over when more than this passes from one exit to the next, the wait in between
   * included. At least `cap × (1 + jitter)`, so a wait alone never counts as a long run.
   */
  readonly resetAfter: number;
}

/** A port of this machine. With `"auto"` each start gets a free one, in the variable `PORT`. */
interface ProbedPort {
  readonly port: number | "auto";
  /**
   * 127.0.0.1 if undefined: on the other address of localhost another user may listen, and would answer for a process
   * that does not.
   */
  readonly host?: string | undefined;
}

/** What a probe asks. */
export type ProbeTarget =
  | ({ readonly kind: "http"; readonly path: string } & ProbedPort)
  | ({ readonly kind: "tcp" } & ProbedPort)
  | { readonly kind: "exec"; readonly line: string };

/** A check of a process, repeated while it runs. Durations are in milliseconds. */
export interface ProbeSpec {
  readonly target: ProbeTarget;
  readonly period: number;
  readonly timeout: number;
  /** How many failures in a row count. */
  readonly failures: number;
}

/** One wanted process, with every default filled in. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path. */
  readonly cwd: string;
  readonly restart: RestartPolicy;
  readonly backoff: BackoffSpec;
  /** Restarts in a row, each at most `backoff.resetAfter` after the exit before. `Infinity` for no limit. */
  readonly maxRestarts: number;
  /** Exit codes that are a success. */
  readonly success: readonly number[];
  /** Exit codes after which it is not started again. */
  readonly final: readonly number[];
  /** From the stop signal to SIGKILL, in milliseconds. */
  readonly grace: number;
  readonly stopSignal: NodeJS.Signals;
  /** Memory of the process and its descendants at which they are restarted, in bytes. `Infinity` for no limit. */
  readonly maxMemory: number;
  /** Whether its end is the end of all processes. */
  readonly exitOnEnd: boolean;
  readonly dependsOn: Readonly<Record<string, Condition>>;
  /** Those of them with which it is started anew. */
  readonly restartWith?: readonly string[] | undefined;
  readonly readiness: ProbeSpec | undefined;
  readonly liveness: ProbeSpec | undefined;
  readonly startup: ProbeSpec | undefined;
}

/** The processes to run. */
export interface Manifest {
  readonly processes: ReadonlyMap<string, ProcessSpec>;
}

/** Host and port of a probe, as in a URL. */
export function addressOf({ host = "127.0.0.1", port }: ProbedPort): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Ports of the probes of a process. */
export function portsOf({
  readiness,
  liveness,
  startup,
}: ProcessSpec): readonly (number | "auto")[] {
  return [readiness, liveness, startup].flatMap((probe) =>
    probe === undefined || probe.target.kind === "exec" ? [] : [probe.target.port],
  );
}

/** The named processes, and those that they depend on; all without names. */
export function partOf(
  processes: Manifest["processes"],
  names: readonly string[],
): Manifest["processes"] {
  if (names.length === 0) return processes;
  const part = new Set<string>();
  const add = (name: string): void => {
    const spec = processes.get(name);
    if (spec === undefined || part.has(name)) return;
    part.add(name);
    for (const other of Object.keys(spec.dependsOn)) add(other);
  };
  for (const name of names) add(name);
  return new Map([...processes].filter(([name]) => part.has(name)));
}
