import type { Logger } from "@holdfast/controller";
import { warn } from "../logger.ts";
import { printable } from "../printable.ts";

/** The number of texts that are remembered. */
const MAX_KNOWN = 1_000;

/** Longest text that is logged. */
const MAX_TEXT = 1_000;

/** The text of each warning in the header: code, agent, text in quotes (RFC 7234, section 5.5). */
const WARNING = /\b299 \S+ "((?:[^"\\]|\\.)*)"/g;

/** Logs the warnings of a server, each text once. Remembers the last 1,000 texts. */
export class WarningLog {
  readonly #logger: Logger;
  readonly #known = new Set<string>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Reads a header `warning`. */
  add(header: string): void {
    for (const [, quoted = ""] of header.matchAll(WARNING)) {
      const text = printable(quoted.replace(/\\(.)/g, "$1").slice(0, MAX_TEXT));
      if (this.#known.has(text)) continue;
      if (this.#known.size === MAX_KNOWN) this.#forgetOldest();
      this.#known.add(text);
      warn(this.#logger, { warning: text }, "API server sent a warning");
    }
  }

  #forgetOldest(): void {
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}
