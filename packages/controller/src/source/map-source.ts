import { requireFunction } from "@holdfast/clock/internal";
import type { Source } from "./source.ts";

/**
 * The source, with what `targetsOf` makes of each event: an owner for what it owns, every user of a
 * setting, or nothing. If that throws, the event is lost, and the error is one of the source, which
 * goes on.
 *
 * @param source - where the events come from
 * @param targetsOf - what is to be looked at because of an event
 * @returns the source, under the same name
 * @throws TypeError if `targetsOf` is no function
 *
 * Source: `EnqueueRequestsFromMapFunc` of sigs.k8s.io/controller-runtime/pkg/handler.
 *
 * @example
 * ```ts
 * import { realClock } from "@holdfast/clock";
 * import { fromIterable, mapSource } from "@holdfast/controller";
 *
 * const lines = fromIterable("lines", async function* () {
 *   yield { order: "7", customer: "ann" };
 * });
 * const touched = mapSource(lines, ({ order, customer }) => [`order/${order}`, `of/${customer}`]);
 * await touched.start(
 *   { enqueue: (key) => console.log(key), failed: console.error, clock: realClock },
 *   new AbortController().signal,
 * );
 * // => order/7
 * // => of/ann
 * ```
 */
export function mapSource<Event, Target>(
  source: Source<Event>,
  targetsOf: (event: Event) => readonly Target[],
): Source<Target> {
  requireFunction("targetsOf", targetsOf);
  return {
    name: source.name,
    start: (context, signal) =>
      source.start(
        {
          ...context,
          enqueue(event, options) {
            let targets: readonly Target[];
            try {
              targets = [...targetsOf(event)];
            } catch (error) {
              context.failed(error);
              return;
            }
            for (const target of targets) context.enqueue(target, options);
          },
        },
        signal,
      ),
  };
}
