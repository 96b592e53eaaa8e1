import type { ManifestError } from "../manifest/manifest-error.ts";
import type { Action } from "./diff.ts";
import type { Outcome } from "./outcome.ts";
import type { Run } from "./process-table.ts";

/** Why a process is stopped. */
export type StopReason = "shutdown" | "changed" | "removed" | "asked" | "dependency" | "held";

/** Something that happened to one process. Durations are in milliseconds. */
export type ProcessChange =
  /** It is wanted from now on, for the first time or with a changed spec. */
  | { readonly type: "wanted"; readonly probed: boolean }
  /** Its probes have changed while it ran. */
  | { readonly type: "updated"; readonly probed: boolean }
  /** Its start waits for another process: a reason, or undefined when nothing is in its way any more. */
  | {
      readonly type: "pending";
      readonly reason: string | undefined;
      /** Whether it can never start, unless the manifest changes. */
      readonly isForEver: boolean;
    }
  | { readonly type: "started"; readonly pid: number }
  | {
      readonly type: "readiness";
      readonly ready: boolean;
      readonly target: string;
      readonly reason: string | undefined;
    }
  /** A probe or its memory is the reason to end it and to start it again. */
  | { readonly type: "unhealthy"; readonly reason: string }
  /** The stop signal was sent. */
  | {
      readonly type: "terminating";
      readonly reason: StopReason;
      readonly grace: number;
      readonly signal: NodeJS.Signals;
    }
  /** The grace period is over and SIGKILL was sent. */
  | { readonly type: "killing"; readonly grace: number }
  /** It exited without a request, or could not be started. */
  | { readonly type: "exited"; readonly run: Run; readonly outcome: Outcome }
  /** The next start is planned. `deadline` is an instant on the monotonic line of the clock. */
  | { readonly type: "waiting"; readonly delay: number; readonly deadline: number }
  /** It ended as asked. `run` is undefined if it was not running. */
  | { readonly type: "stopped"; readonly run: Run | undefined }
  /** It is no longer in the manifest, and gone. */
  | { readonly type: "removed" };

/** Something that happened to the supervisor as a whole. */
type SupervisorChange =
  | { readonly type: "applied"; readonly file: string; readonly actions: readonly Action[] }
  | { readonly type: "rejected"; readonly errors: readonly ManifestError[] }
  | { readonly type: "unreadable"; readonly file: string; readonly message: string }
  /** Something went wrong that is tried again. */
  | { readonly type: "failed"; readonly message: string }
  /** Its page can be looked at. */
  | { readonly type: "serving"; readonly url: string }
  /** All processes have ended, or one whose end is the end of all. */
  | { readonly type: "finished"; readonly why: string; readonly code: number }
  | { readonly type: "shutdown"; readonly why: string };

/** Something that happened, to whomever. */
export type Change = SupervisorChange | (ProcessChange & { readonly name: string });

/** A change of one process. `at` is an instant on the monotonic line of the clock. */
export type ProcessEvent = ProcessChange & { readonly at: number; readonly name: string };

/** Everything that a supervisor tells. Views, the summary and the tests know nothing else. */
export type SupervisorEvent = Change & { readonly at: number };
