import type { Output } from "../../output.ts";
import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";
import { describeEvent } from "./describe-event.ts";
import type { View } from "./view.ts";

/** One line per change. */
export class LogView implements View {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  show(event: SupervisorEvent, statuses: Statuses): void {
    for (const { who, text, tone } of describeEvent(event, statuses)) {
      const line = who === undefined ? text : `${who}: ${text}`;
      if (tone === "bad") this.#output.error(line);
      else this.#output.info(line);
    }
  }

  close(): void {}
}
