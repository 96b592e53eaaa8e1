import { formatElapsed } from "../terminal/duration.ts";
import type { Progress } from "./progress.ts";

/** No more than one line in this time, unless there is news that does not wait: milliseconds. */
const PERIOD = 2_000;

/** One line now and then, and for each kill. */
export class LogView {
  readonly #write: (text: string) => void;
  #last: Progress | undefined;

  /** @param page - the address of the page; undefined for none */
  constructor(write: (text: string) => void, page?: string) {
    this.#write = write;
    if (page !== undefined) write(`00:00.000  the page: ${page}\n`);
  }

  show(progress: Progress): void {
    const last = this.#last;
    const isNews = last === undefined || progress.killed > last.killed;
    if (!isNews && progress.elapsed < last.elapsed + PERIOD) return;
    this.#last = progress;
    const { elapsed, statuses, received, killed, expired, lock } = progress;
    const { pending, retrying, delivered, dead } = statuses;
    const counts = `pending ${pending}  retrying ${retrying}  delivered ${delivered}  dead ${dead}`;
    const others = `in flight ${received.open}  killed ${killed}  expired ${expired}  lock ${lock?.holder ?? "-"}`;
    this.#write(`${formatElapsed(elapsed)}  ${counts}  ${others}\n`);
  }
}
