import type { Clock } from "@holdfast/clock";
import { formatDuration, formatElapsed } from "../../terminal/duration.ts";
import type { Attempt } from "../attempt.ts";
import type { ClientEvent } from "../event.ts";
import { describeError } from "./describe-error.ts";
import { type Colours, legend, timeLine } from "./time-line.ts";
import type { View } from "./view.ts";

/** Options for {@link LogView}. */
export interface LogViewOptions {
  readonly clock: Clock;
  readonly write: (text: string) => void;
  readonly colours: Colours;
  /** The monotonic instant that time stamps count from. */
  readonly start: number;
  /** How many columns there are for the time line at the end. */
  readonly room: number;
}

function describe(event: ClientEvent, last: Attempt, { green, red }: Colours): string | undefined {
  const took = formatDuration(event.at - last.startedAt);
  switch (event.type) {
    case "started":
      return undefined;
    case "accepted":
      return green(`accepted: SETTINGS frame after ${took}`);
    case "failed": {
      const next = event.delay > 0 ? `in ${formatDuration(event.delay)}` : "at once";
      return `${red(describeError(event.error))} after ${took}, next attempt ${next}`;
    }
    case "lost":
      return red(`lost after ${took}`);
  }
}

/** One line per change, with the time since the start, and the time line at the end. */
export class LogView implements View {
  readonly #options: LogViewOptions;
  #attempts: readonly Attempt[] = [];

  constructor(options: LogViewOptions) {
    this.#options = options;
  }

  show(event: ClientEvent, attempts: readonly Attempt[]): void {
    this.#attempts = attempts;
    const { write, colours, start } = this.#options;
    const last = attempts.at(-1);
    const text = last && describe(event, last, colours);
    if (last === undefined || text === undefined) return;
    const stamp = colours.dim(formatElapsed(event.at - start));
    write(`${stamp}  ${last.behaviour.padEnd(6)}  attempt ${last.attempt}: ${text}\n`);
  }

  close(): void {
    const { clock, write, colours, start, room } = this.#options;
    const span = clock.monotonic() - start;
    const lines = timeLine(this.#attempts, { colours, room, start, span, now: start + span });
    write(`\n${[...lines, "", legend(colours)].join("\n")}\n`);
  }
}
