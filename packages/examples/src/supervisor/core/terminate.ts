import type { Clock } from "@holdfast/clock";
import type { Child } from "./process-table.ts";

/** How {@link terminate} ends a child. */
export interface TerminateOptions {
  readonly clock: Clock;
  /** How long the child may take after SIGTERM, in milliseconds. */
  readonly grace: number;
  /** Called when the grace period is over and SIGKILL has been sent. */
  readonly onKill: () => void;
}

/** Asks a child to end, and makes it end when the grace period is over. */
export async function terminate(
  child: Child,
  { clock, grace, onKill }: TerminateOptions,
): Promise<void> {
  const kill = (): void => {
    child.signal("SIGKILL");
    onKill();
  };
  using _timer = clock.afterFunc(grace, kill, { label: "grace period" });
  child.signal("SIGTERM");
  await child.exited;
}
