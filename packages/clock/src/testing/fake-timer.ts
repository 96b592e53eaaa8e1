import type { CallbackContext } from "@holdfast/kit";
import { BaseTimer } from "../base-timer.ts";
import type { TimerOptions } from "../clock.ts";
import type { Timeline, TimelineEntry } from "./timeline.ts";

/** A timer on a timeline. It is its own entry there, which saves one object per sleep. */
export class FakeTimer extends BaseTimer implements TimelineEntry {
  heapSlot = -1;
  readonly label: string | undefined;
  readonly ref: boolean;
  readonly #timeline: Timeline;
  readonly #callback: () => void;
  /** The async context of the callback; undefined for callbacks that need none. */
  readonly #context: CallbackContext | undefined;
  #deadline = 0;

  constructor(
    timeline: Timeline,
    delay: number,
    callback: () => void,
    options: TimerOptions,
    context?: CallbackContext,
  ) {
    super();
    this.#timeline = timeline;
    this.#callback = callback;
    this.#context = context;
    this.label = options.label;
    this.ref = options.ref ?? true;
    this.reset(delay);
  }

  override get deadline(): number {
    return this.#deadline;
  }

  fire(): void {
    this.expire();
    if (this.#context === undefined) this.#callback();
    else this.#context.runInAsyncScope(this.#callback);
  }

  protected override arm(delay: number): void {
    this.#deadline = this.#timeline.after(delay);
    this.#timeline.add(this, this.#deadline);
  }

  protected override disarm(): void {
    this.#timeline.remove(this);
  }
}
