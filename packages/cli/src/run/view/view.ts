import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";

/** Shows the events of a supervisor to a person. */
export interface View {
  /** @param statuses - as they are after the event */
  show(event: SupervisorEvent, statuses: Statuses): void;
  /** Leaves the last state on the screen and stops. */
  close(): void;
}
