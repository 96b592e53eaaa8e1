import { onAbort } from "@holdfast/clock";
import { isStop, requireFunction } from "@holdfast/kit";
import { TurnBudget } from "../turn-budget.ts";
import type { Source, SourceContext } from "./source.ts";

/**
 * A source of an iterable: a stream of changes, a ticker, the lines of a file.
 *
 * An abort ends the source at once, also while the next event is awaited. The iterator's `return` is
 * called but not awaited. The source ends with the iteration.
 *
 * @param name - see {@link Source.name}
 * @param open - returns the iterable; called at each start, and again after a failure
 * @returns the source
 * @throws TypeError if `open` is not a function
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
  { enqueue, failed, clock }: SourceContext<Event>,
  signal: AbortSignal,
): Promise<void> {
  const turns = new TurnBudget(clock);
  return new Promise((resolve, reject) => {
    const pump = async (): Promise<void> => {
      while (!signal.aborted) {
        const next = await events.next();
        if (next.done === true) return;
        enqueue(next.value);
        turns.spend(clock.monotonic());
        const { turn } = turns;
        if (turn !== undefined) await turn;
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
        // After the abort the source is not restarted, and its end is not awaited.
        if (signal.aborted && !isStop(error, signal)) failed(error);
        reject(error);
      });
  });
}
