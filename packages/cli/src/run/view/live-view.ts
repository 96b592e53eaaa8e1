import type { Clock, Ticker } from "@holdfast/clock";
import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";
import { describeEvent } from "./describe-event.ts";
import { frameLines, type TimedLine } from "./frame.ts";
import type { Palette } from "./palette.ts";
import type { View } from "./view.ts";

/** Options for a {@link LiveView}. */
export interface LiveViewOptions {
  readonly clock: Clock;
  readonly stream: NodeJS.WriteStream;
  readonly palette: Palette;
  readonly file: string;
  /** The monotonic instant that time stamps count from. */
  readonly start: number;
  /** How long the run lasts, in milliseconds. */
  readonly duration: number;
}

const RECENT = 5;
const REFRESH = 1_000;
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/** A table that is redrawn in place: after each change, and each second for the countdowns. */
export class LiveView implements View {
  readonly #options: LiveViewOptions;
  /** Lines of the last frame, which the next one replaces. */
  #height = 0;
  readonly #ticker: Ticker;
  #hint = "Ctrl-C stops";
  #statuses: Statuses = new Map();
  #problems: readonly string[] = [];
  #recent: readonly TimedLine[] = [];

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#ticker = options.clock.newTicker(REFRESH, { ref: false, label: "refresh" });
    options.stream.on("resize", this.#onResize);
    void this.#refresh();
  }

  show(event: SupervisorEvent, statuses: Statuses): void {
    this.#statuses = statuses;
    const lines = describeEvent(event, statuses);
    if (event.type === "rejected" || event.type === "unreadable")
      this.#problems = lines.map(({ text }) => text);
    else {
      if (event.type === "applied" || event.type === "shutdown") this.#problems = [];
      if (event.type === "shutdown") this.#hint = "stopping, Ctrl-C kills";
      if (event.type === "serving") this.#hint = `${event.url} · ${this.#hint}`;
      const elapsed = event.at - this.#options.start;
      const timed = lines.map((line) => ({ ...line, who: line.who ?? "holdfast", elapsed }));
      this.#recent = [...this.#recent, ...timed].slice(-RECENT);
    }
    this.#draw();
  }

  close(): void {
    this.#ticker.stop();
    this.#hint = "ended";
    this.#options.stream.off("resize", this.#onResize);
    this.#draw(SHOW_CURSOR);
  }

  async #refresh(): Promise<void> {
    for await (const _ of this.#ticker) this.#draw();
  }

  readonly #onResize = (): void => this.#draw();

  #draw(end = ""): void {
    const { clock, stream, palette, file, start, duration } = this.#options;
    // A later frame shows all that this one does.
    if (stream.writableLength > 0 && end === "") return;
    // A terminal may not know its size, and says 0.
    const [columns, rows] = [stream.columns || 80, stream.rows || 24];
    const state = { statuses: this.#statuses, problems: this.#problems, recent: this.#recent };
    const frame = { ...state, hint: this.#hint, file, now: clock.monotonic(), start, duration };
    // One column and one row less: a full last one makes terminals scroll.
    const canvas = { columns: columns - 1, rows: rows - 1, palette };
    const lines = frameLines(frame, canvas);
    const back = this.#height > 0 ? `\u001b[${this.#height}A` : HIDE_CURSOR;
    this.#height = lines.length;
    stream.write(`${back}\u001b[J${lines.join("\n")}\n${end}`);
  }
}
