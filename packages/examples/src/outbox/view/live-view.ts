import truncate from "cli-truncate";
import { createLogUpdate } from "log-update";
import type { Progress } from "../progress.ts";
import { progressLines } from "./progress-lines.ts";
import type { Colours, View } from "./view.ts";

/** Options for a {@link LiveView}. */
export interface LiveViewOptions {
  readonly stream: NodeJS.WriteStream;
  readonly colours: Colours;
  /** The address of the page; undefined for none. */
  readonly page: string | undefined;
}

/** The table, redrawn in place. */
export class LiveView implements View {
  readonly #options: LiveViewOptions;
  readonly #update: ReturnType<typeof createLogUpdate>;

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#update = createLogUpdate(options.stream);
  }

  show(progress: Progress): void {
    const { stream, colours, page } = this.#options;
    // One column less: a full last one makes terminals scroll.
    const room = (stream.columns ?? 80) - 1;
    const lines = progressLines(progress, colours, page).map((line) => truncate(line, room));
    this.#update(lines.join("\n"));
  }

  close(): void {
    this.#update.done();
  }
}
