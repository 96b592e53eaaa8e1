import { requireFunction } from "@holdfast/clock/internal";
import { mapSource } from "./map-source.ts";
import type { Source } from "./source.ts";

/**
 * The source, without the events that `isWanted` is false for. If that throws, the event is lost, and
 * the error is one of the source, which goes on.
 *
 * @param source - where the events come from
 * @param isWanted - whether an event is to be passed on
 * @returns the source, under the same name
 * @throws TypeError if `isWanted` is no function
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
  return mapSource(source, (event) => (isWanted(event) ? [event] : []));
}
