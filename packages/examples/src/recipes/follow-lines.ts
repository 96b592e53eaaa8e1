import { onAbort, realClock } from "@holdfast/clock";
import { expectOk } from "@holdfast/wait";
import { retryBackoff } from "@holdfast/wait/rxjs";
import { Observable, takeUntil } from "rxjs";
import { describeError } from "./describe-error.ts";
import type { FetchOptions } from "./recipe-options.ts";

/**
 * The lines of an endless response, such as a log. The request is sent again whenever the response
 * ends or breaks. An abort completes the stream.
 */
export function followLines(url: string, options: FetchOptions): Observable<string> {
  const { signal, clock = realClock, random, log = console.log } = options;
  const { fetch = globalThis.fetch } = options;
  const lines = new Observable<string>((subscriber) => {
    const request = new AbortController();
    const read = async (): Promise<never> => {
      const { body } = await expectOk(await fetch(url, { signal: request.signal }), { clock });
      let rest = "";
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const complete = (rest + text).split("\n");
        rest = complete.pop() ?? "";
        for (const line of complete) subscriber.next(line);
      }
      throw new Error("the response ended");
    };
    read().catch((error: unknown) => subscriber.error(error));
    return () => request.abort();
  });
  const backoff = { duration: 1_000, factor: 2, cap: 30_000, jitter: "equal", random } as const;
  const onRetry = ({ error, delay }: { error: unknown; delay: number }): void =>
    log(`${describeError(error)}; next request in ${Math.round(delay)} ms`);
  return lines.pipe(
    retryBackoff({ backoff, resetOnSuccess: true, onRetry, clock }),
    takeUntil(
      new Observable<void>((stop) => {
        const subscription = onAbort(signal, () => stop.next());
        return () => subscription[Symbol.dispose]();
      }),
    ),
  );
}
