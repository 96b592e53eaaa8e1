import type { Condition, ProcessSpec } from "../manifest/manifest.ts";
import type { ProcessStatus, Statuses } from "./status.ts";

/** What keeps a process from its start. */
export interface Obstacle {
  readonly reason: string;
  /** Whether it can never go away, unless the manifest changes. */
  readonly isForEver: boolean;
}

const MET: Readonly<Record<Condition, (status: ProcessStatus) => boolean>> = {
  ready: ({ ready }) => ready === true,
  // A process that has crashed and waits for its restart is not started.
  started: ({ phase }) => phase === "Running" || phase === "Completed",
  completed: ({ phase }) => phase === "Completed",
};

/** The first condition of a process that is not met; undefined if it may start. */
export function obstacleOf({ dependsOn }: ProcessSpec, statuses: Statuses): Obstacle | undefined {
  for (const [name, condition] of Object.entries(dependsOn)) {
    const status = statuses.get(name);
    if (status !== undefined && MET[condition](status)) continue;
    if (status?.phase === "Failed") return { reason: `${name} has failed`, isForEver: true };
    if (status?.phase === "Completed")
      return { reason: `${name} has completed, and is not ${condition}`, isForEver: true };
    if (status?.isBlocked === true)
      return { reason: `${name} cannot start: ${status.reason}`, isForEver: true };
    return { reason: `${name} is not ${condition} yet`, isForEver: false };
  }
  return undefined;
}
