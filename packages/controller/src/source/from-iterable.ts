import { onAbort } from "@holdfast/clock";
import { requireFunction } from "@holdfast/clock/internal";
import { isStop } from "../is-stop.ts";
import type { Source, SourceContext } from "./source.ts";

/**
 * A source of what can be iterated: a stream of changes, a ticker, lines of a file.
 *
 * An abort ends it at once, also while the next event is awaited; the iterator's `return` is called
 * and not waited for. When the iteration ends, so does the source.
 *
 * @param name - see {@link Source.name}
 * @param open - called at each start, and once more after each failure, for what to iterate
 * @returns the source
 * @throws TypeError if `open` is no function
 *
 * @example
 * ```ts
 * import { fromIterable } from "@holdfast/controller";
 *
 * const source = fromIterable("changes", async function* () {
 *   yield "orders/1";
 * });
 * console.log(source.name); // => changes
 * ```
 */
export function fromIterable<Event = string>(
  name: string,
  open: (signal: AbortSignal) => AsyncIterable<Event>,
): Source<Event> {
  requireFunction("open", open);
  return {
    name,
    start(context, signal) {
      const events = open(signal);
      return iterate(events[Symbol.asyncIterator](), context, signal);
    },
  };
}

function iterate<Event>(
  events: AsyncIterator<Event>,
  { enqueue, failed }: SourceContext<Event>,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const pump = async (): Promise<void> => {
      while (!signal.aborted) {
        const next = await events.next();
        if (next.done === true) return;
        enqueue(next.value);
      }
    };
    const close = async (): Promise<void> => {
      await events.return?.();
    };
    const subscription = onAbort(signal, () => {
      resolve();
      close().catch(failed);
    });
    const leave = (): void => subscription[Symbol.dispose]();
    pump()
      .finally(leave)
      .then(resolve, (error: unknown) => {
        // After the abort nobody starts it again, and nobody waits for it.
        if (signal.aborted && !isStop(error, signal)) failed(error);
        reject(error);
      });
  });
}
