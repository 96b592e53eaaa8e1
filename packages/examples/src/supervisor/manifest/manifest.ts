/** When an ended process is started again; the words are those of a Kubernetes pod. */
export type RestartPolicy = "Always" | "OnFailure" | "Never";

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

/** An HTTP GET that says whether a process can do its work. Durations are in milliseconds. */
export interface ReadinessSpec {
  /** `"auto"`: a free port is chosen at each start. The process finds its port in `PORT`. */
  readonly port: number | "auto";
  readonly path: string;
  readonly period: number;
  readonly timeout: number;
  /** How many failures in a row make a ready process unready. */
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
  readonly readiness: ReadinessSpec | undefined;
}

/** The processes to run. */
export interface Manifest {
  /** How long a process may take to end after SIGTERM before it gets SIGKILL, in milliseconds. */
  readonly grace: number;
  readonly processes: ReadonlyMap<string, ProcessSpec>;
}
