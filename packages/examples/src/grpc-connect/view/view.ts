import type { Attempt } from "../attempt.ts";
import type { ClientEvent } from "../event.ts";

/** Shows a person what a client does. */
export interface View {
  /** @param attempts - as they are after the event */
  show(event: ClientEvent, attempts: readonly Attempt[]): void;
  /** Leaves the whole time line behind, and stops. */
  close(): void;
}
