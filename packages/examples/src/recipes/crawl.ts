import { realClock } from "@holdfast/clock";
import { TokenBucketLimiter, WorkQueue } from "@holdfast/controller";
import { expectOk, isTerminalError } from "@holdfast/wait";
import { describeError } from "./describe-error.ts";
import { linksOf } from "./links-of.ts";
import type { FetchOptions } from "./recipe-options.ts";

const [PAGES, WORKERS, RETRIES] = [100, 4, 3];

/** Visits the pages of one site, two per second, and returns their URLs. A failed page is retried. */
export async function crawl(start: string, options: FetchOptions): Promise<ReadonlySet<string>> {
  const { signal, clock = realClock, log = console.log, fetch = globalThis.fetch } = options;
  const limiter = new TokenBucketLimiter({ qps: 2, burst: 1, clock });
  const queue = new WorkQueue({ clock });
  const found = new Set<string>();
  const add = (url: string): void => {
    if (found.has(url) || found.size === PAGES) return;
    found.add(url);
    queue.add(url);
  };
  const work = async (): Promise<void> => {
    for (;;) {
      using item = await queue.get(signal);
      if (item === undefined) return;
      const { key: url } = item;
      try {
        await limiter.acquire(signal);
        const page = await expectOk(await fetch(url, { signal }), { clock });
        for (const link of linksOf(await page.text(), url)) add(link);
        log(`visited ${url}`);
      } catch (error) {
        signal.throwIfAborted();
        log(describeError(error));
        if (!isTerminalError(error) && queue.requeues(url) < RETRIES) queue.retry(url);
      }
    }
  };
  add(start);
  const visitedAll = queue.idle(signal).then(() => queue.shutDown());
  await Promise.all([visitedAll, ...Array.from({ length: WORKERS }, work)]);
  return found;
}
