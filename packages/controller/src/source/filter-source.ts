import { requireAnswer, requireFunction } from "@holdfast/kit";
import { mapSource } from "./map-source.ts";
import type { Source } from "./source.ts";

/**
 * A source that drops the events for which `isWanted` returns false. If `isWanted` throws, the event is
 * lost and the error is reported; the source continues.
 *
 * @param source - source of the events
 * @param isWanted - whether to pass an event on
 * @returns the source, under the same name
 * @throws TypeError if `isWanted` is not a function
 *
 * Source: `Predicate` of sigs.k8s.io/controller-runtime/pkg/predicate.
 *
 * @example
 * ```ts
 * import { realClock } from "@holdfast/clock";
 * import { filterSource, fromIterable } from "@holdfast/controller";
 *
 * const files = fromIterable("files", async function* () {
 *   yield* ["a.txt", "a.tmp"];
 * });
 * const documents = filterSource(files, (file) => !file.endsWith(".tmp"));
 * await documents.start(
 *   {
 *     enqueue: (file) => console.log(file), // => a.txt
 *     failed: console.error,
 *     clock: realClock,
 *   },
 *   new AbortController().signal,
 * );
 * ```
 */
export function filterSource<Event>(
  source: Source<Event>,
  isWanted: (event: Event) => boolean,
): Source<Event> {
  requireFunction("isWanted", isWanted);
  return mapSource(source, (event) =>
    requireAnswer("isWanted(event)", isWanted(event)) ? [event] : [],
  );
}
