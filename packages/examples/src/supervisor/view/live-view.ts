import type { Clock, Ticker } from "@holdfast/clock";
import { createLogUpdate } from "log-update";
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

/** A table that is redrawn in place: after each change, and each second for the countdowns. */
export class LiveView implements View {
  readonly #options: LiveViewOptions;
  readonly #update: ReturnType<typeof createLogUpdate>;
  readonly #ticker: Ticker;
  #hint = "Ctrl-C stops";
  #statuses: Statuses = new Map();
  #problems: readonly string[] = [];
  #recent: readonly TimedLine[] = [];

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#update = createLogUpdate(options.stream);
    this.#ticker = options.clock.newTicker(REFRESH, { ref: false, label: "refresh" });
    options.stream.on("resize", this.#draw);
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
      const timed = lines.map((line) => ({ ...line, elapsed }));
      this.#recent = [...this.#recent, ...timed].slice(-RECENT);
    }
    this.#draw();
  }

  close(): void {
    this.#ticker.stop();
    this.#hint = "ended";
    this.#options.stream.off("resize", this.#draw);
    this.#draw();
    this.#update.done();
  }

  async #refresh(): Promise<void> {
    for await (const _ of this.#ticker) this.#draw();
  }

  readonly #draw = (): void => {
    const { clock, stream, palette, file, start, duration } = this.#options;
    const { columns = 80, rows = 24 } = stream;
    const state = { statuses: this.#statuses, problems: this.#problems, recent: this.#recent };
    const frame = { ...state, hint: this.#hint, file, now: clock.monotonic(), start, duration };
    // One column and one row less: a full last one makes terminals scroll.
    const canvas = { columns: columns - 1, rows: rows - 1, palette };
    this.#update(frameLines(frame, canvas).join("\n"));
  };
}
