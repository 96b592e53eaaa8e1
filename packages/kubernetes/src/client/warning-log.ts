import type { PassiveClock } from "@holdfast/clock";
import type { Logger } from "@holdfast/controller";
import { RepeatedLines } from "@holdfast/kit";
import { warn } from "../logger.ts";
import { printable } from "../printable.ts";

/** Longest text that is logged. */
const MAX_TEXT = 1_000;

/** The text of each warning in the header: code, agent, text in quotes (RFC 7234, section 5.5). */
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Logs the warnings of a server, each text once: a repetition is no news. If there are too many texts, one line a minute. */
export class WarningLog {
  readonly #logger: Logger;
  readonly #lines: RepeatedLines;

  constructor(logger: Logger, clock: PassiveClock) {
    this.#logger = logger;
    this.#lines = new RepeatedLines(clock);
  }

  /** Reads a header `warning`. */
  add(header: string): void {
    for (const [, quoted = ""] of header.matchAll(WARNING)) {
      const text = printable(quoted.replace(/\\(.)/g, "$1").slice(0, MAX_TEXT));
      const more = this.#lines.detailsOf(text);
      if (more !== undefined && more.count === undefined)
        warn(this.#logger, { warning: text, ...more }, "API server sent a warning");
    }
  }
}
