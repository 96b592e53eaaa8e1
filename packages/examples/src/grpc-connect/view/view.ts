import type { Attempt } from "../attempt.ts";
import type { ClientEvent } from "../event.ts";

/** Shows the changes of a client to a person. */
export interface View {
  /** @param attempts - as they are after the event */
  show(event: ClientEvent, attempts: readonly Attempt[]): void;
  /** Leaves the whole time line behind, and stops. */
  close(): void;
}
