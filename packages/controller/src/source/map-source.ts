import { requireFunction } from "@holdfast/kit";
import type { Source } from "./source.ts";

/**
 * A source that replaces each event with the items that `targetsOf` returns: the owner of an object,
 * every user of a setting, or none. If `targetsOf` throws, the event is lost and the error is reported;
 * the source continues.
 *
 * @param source - source of the events
 * @param targetsOf - the items to enqueue for an event
 * @returns the source, under the same name
 * @throws TypeError if `targetsOf` is not a function
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
    ...readyOf(source),
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

/** `ready` of a source, for one that is made of it. */
function readyOf(source: Pick<Source, "ready">): Pick<Source, "ready"> {
  const { ready } = source;
  return ready === undefined ? {} : { ready: (signal) => ready.call(source, signal) };
}
