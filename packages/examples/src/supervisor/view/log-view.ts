import { formatElapsed } from "../../terminal/duration.ts";
import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";
import { describeEvent } from "./describe-event.ts";
import type { Palette } from "./palette.ts";
import type { View } from "./view.ts";

/** Options for a {@link LogView}. */
export interface LogViewOptions {
  readonly write: (text: string) => void;
  readonly palette: Palette;
  /** The monotonic instant that time stamps count from. */
  readonly start: number;
}

const NAME_WIDTH = "supervisor".length;

/** One line per change, with the time since the start. */
export class LogView implements View {
  readonly #options: LogViewOptions;

  constructor(options: LogViewOptions) {
    this.#options = options;
  }

  show(event: SupervisorEvent, statuses: Statuses): void {
    const { write, palette, start } = this.#options;
    for (const { who, text, tone } of describeEvent(event, statuses)) {
      const stamp = palette.dim(formatElapsed(event.at - start));
      write(`${stamp}  ${who.padEnd(NAME_WIDTH)}  ${palette.tone[tone](text)}\n`);
    }
  }

  close(): void {}
}
