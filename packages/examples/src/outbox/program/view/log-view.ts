import { formatElapsed } from "../../../terminal/duration.ts";
import type { Progress } from "../progress.ts";
import type { View } from "./view.ts";

/** No more than one line in this time, unless there is news that does not wait: milliseconds. */
const PERIOD = 2_000;

/** One line now and then, and for each kill. */
export class LogView implements View {
  readonly #write: (text: string) => void;
  #last: Progress | undefined;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  show(progress: Progress): void {
    const last = this.#last;
    const isNews = last === undefined || progress.killed > last.killed;
    if (!isNews && progress.elapsed < last.elapsed + PERIOD) return;
    this.#last = progress;
    const { elapsed, statuses, received, killed, orphans, holder = "-" } = progress;
    const { pending, failed, success, dead } = statuses;
    const counts = `pending ${pending}  failed ${failed}  success ${success}  dead ${dead}`;
    const others = `in flight ${received.open}  killed ${killed}  orphans ${orphans}  lock ${holder}`;
    this.#write(`${formatElapsed(elapsed)}  ${counts}  ${others}\n`);
  }

  close(): void {}
}
