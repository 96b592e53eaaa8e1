import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";

/** Shows a person what a supervisor does. */
export interface View {
  /** @param statuses - as they are after the event */
  show(event: SupervisorEvent, statuses: Statuses): void;
  /** Leaves the last state on the screen and stops. */
  close(): void;
}
