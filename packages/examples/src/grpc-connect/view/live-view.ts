import type { Clock, Ticker } from "@holdfast/clock";
import { createLogUpdate } from "log-update";
import type { Attempt } from "../attempt.ts";
import type { ClientEvent } from "../event.ts";
import { type Colours, legend, timeLine } from "./time-line.ts";
import type { View } from "./view.ts";

/** Options for {@link LiveView}. */
export interface LiveViewOptions {
  readonly clock: Clock;
  readonly stream: NodeJS.WriteStream;
  readonly colours: Colours;
  /** The monotonic instant at the left edge. */
  readonly start: number;
}

const REFRESH = 100;
/** The scale changes no more often than this. */
const SPAN = 5_000;

/** The time line, redrawn in place. */
export class LiveView implements View {
  readonly #options: LiveViewOptions;
  readonly #update: ReturnType<typeof createLogUpdate>;
  readonly #ticker: Ticker;
  #attempts: readonly Attempt[] = [];

  constructor(options: LiveViewOptions) {
    this.#options = options;
    this.#update = createLogUpdate(options.stream);
    this.#ticker = options.clock.newTicker(REFRESH, { ref: false, label: "refresh" });
    options.stream.on("resize", this.#draw);
    void this.#refresh();
  }

  show(_event: ClientEvent, attempts: readonly Attempt[]): void {
    this.#attempts = attempts;
    this.#draw();
  }

  close(): void {
    this.#ticker.stop();
    this.#options.stream.off("resize", this.#draw);
    this.#draw();
    this.#update.done();
  }

  async #refresh(): Promise<void> {
    for await (const _ of this.#ticker) this.#draw();
  }

  readonly #draw = (): void => {
    const { clock, stream, colours, start } = this.#options;
    // One column less: a full last one makes terminals scroll.
    const room = (stream.columns ?? 80) - 1;
    const now = clock.monotonic();
    const span = SPAN * (Math.floor((now - start) / SPAN) + 1);
    const lines = timeLine(this.#attempts, { colours, room, start, span, now });
    this.#update([...lines, "", legend(colours)].join("\n"));
  };
}
