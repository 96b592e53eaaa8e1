import type { PassiveClock } from "@holdfast/clock";
import type { Logger } from "@holdfast/controller";
import { RepeatedLines, withoutNumbers } from "@holdfast/kit";
import { warn } from "../logger.ts";
import { printable } from "../printable.ts";

/** Most texts that have a line of their own; all others share one a minute. */
const MAX_TEXTS = 100;

/** Longest text that is logged. */
const MAX_TEXT = 1_000;

/** The text of each warning in the header: code, agent, text in quotes (RFC 7234, section 5.5). */
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Logs the warnings of a server, each text once: a repetition is no news. */
export class WarningLog {
  readonly #logger: Logger;
  readonly #texts = new Set<string>();
  readonly #others: RepeatedLines;

  constructor(logger: Logger, clock: PassiveClock) {
    this.#logger = logger;
    this.#others = new RepeatedLines(clock);
  }

  /** Reads a header `warning`. */
  add(header: string): void {
    for (const [, quoted = ""] of header.matchAll(WARNING)) {
      const text = printable(quoted.replace(/\\(.)/g, "$1").slice(0, MAX_TEXT));
      const name = withoutNumbers(text);
      if (this.#texts.has(name)) continue;
      if (this.#texts.size < MAX_TEXTS) {
        this.#texts.add(name);
        this.#log({ warning: text });
        continue;
      }
      const more = this.#others.detailsOf("others", "");
      if (more !== undefined) this.#log({ warning: text, others: more.count ?? 1 });
    }
  }

  #log(details: object): void {
    warn(this.#logger, details, "API server sent a warning");
  }
}
