import { onAbort } from "@holdfast/clock";
import type { Source } from "@holdfast/controller";
import { func, type Kinds, read, requireAnswer } from "@holdfast/kit";
import { changesBetween, type ObjectChange } from "../cache/change.ts";
import type { ObjectTable } from "../cache/object-table.ts";
import type { InformerSourceOptions } from "./informer.ts";

export const INFORMER_SOURCE_OPTIONS: Kinds<InformerSourceOptions> = { when: func, to: func };

/** Priority of the objects that were there before: live changes have 0. */
const INITIAL = { priority: -10 };

/** A source of the changes of some tables, which replays their objects first. */
export function changeSource(
  name: string,
  tables: readonly ObjectTable[],
  ready: (signal: AbortSignal) => Promise<void>,
): Source<ObjectChange> {
  return {
    name,
    ready,
    start({ enqueue }, signal) {
      if (signal.aborted) return;
      const tell = (change: ObjectChange): void =>
        enqueue(change, change.isInitial ? INITIAL : undefined);
      const subscriptions = tables.map((table) => table.subscribe(tell));
      onAbort(signal, () => {
        for (const subscription of subscriptions) subscription[Symbol.dispose]();
      });
      for (const { objects } of tables)
        for (const [key, object] of objects)
          for (const change of changesBetween(key, undefined, object, true)) tell(change);
    },
  };
}

/** A source of the keys that changes wake. */
export function keySource(source: Source<ObjectChange>, options: InformerSourceOptions): Source {
  const { when, to } = read("options", options, "source", INFORMER_SOURCE_OPTIONS);
  return {
    ...source,
    start: (context, signal) =>
      source.start(
        {
          ...context,
          enqueue(change, added) {
            let keys: Iterable<string> = [change.key];
            try {
              if (when && requireAnswer("options.when(change)", when(change)) === false) return;
            } catch (error) {
              context.failed(error); // and the key is woken: a reconcile too many is better than one too few
            }
            try {
              if (to !== undefined) keys = [...to(change)];
            } catch (error) {
              context.failed(error);
              return;
            }
            for (const key of keys) context.enqueue(key, added);
          },
        },
        signal,
      ),
  };
}
