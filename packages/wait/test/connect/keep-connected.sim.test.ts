import { FakeClock } from "@holdfast/clock/testing";
import type { BackoffStrategy } from "@holdfast/wait";
import { keepConnected } from "@holdfast/wait/connect";
import { seededRandom } from "@holdfast/wait/strategies";
import { expect, inject, it } from "vitest";
import { abortListeners } from "../../../../test/abort-listeners.ts";

const RUNS = inject("isThorough") ? 5_000 : 300;

/** One call of `connect`, and of `use` if the peer accepts. */
interface Script {
  readonly duration: number;
  readonly lifetime: number | "refused";
  readonly isLost: boolean;
}

interface History {
  readonly scripts: readonly Script[];
  /** Delays of each sequence; after the last one the strategy throws. */
  readonly delays: readonly number[];
  /** Half a millisecond beside all other events. */
  readonly abortAt: number;
}

type Event = readonly [at: number, event: string];

function historyOf(seed: number): History {
  const random = seededRandom(seed);
  const below = (end: number) => Math.floor(random() * end);
  const script = (): Script => {
    const lifetime = below(3) === 0 ? "refused" : below(40);
    return { duration: below(2) * below(30), lifetime, isLost: below(3) === 0 };
  };
  return {
    scripts: Array.from({ length: 12 }, script),
    delays: Array.from({ length: below(5) }, () => 1 + below(30)),
    abortAt: below(150) + 0.5,
  };
}

/** The documented events, computed without a clock. */
function expected({ scripts, delays, abortAt }: History): readonly Event[] {
  const events: Event[] = [];
  let [start, failures] = [0, 0];
  for (const { duration, lifetime } of scripts) {
    if (start > abortAt) break;
    events.push([start, "connect"]);
    const connected = start + duration;
    if (connected > abortAt) break;
    const planned = delays[failures++];
    if (lifetime === "refused" && planned === undefined) return [...events, [connected, "empty"]];
    if (lifetime === "refused") start = Math.max(connected, start + (planned ?? 0));
    else {
      const end = connected + lifetime;
      events.push([connected, "use"]);
      if (end > abortAt) return [...events, [end, "resolved"]];
      const [first] = delays;
      if (first === undefined) return [...events, [end, "empty"]];
      start = Math.max(end, start + Math.min(planned ?? first, first));
      failures = 0;
    }
  }
  return [...events, [abortAt, "resolved"]];
}

async function actual({ scripts, delays, abortAt }: History): Promise<readonly Event[]> {
  const clock = new FakeClock();
  const origin = clock.monotonic();
  const stop = new AbortController();
  const events: Event[] = [];
  const note = (event: string) => events.push([clock.monotonic() - origin, event]);
  const backoff: BackoffStrategy = {
    delayFunc() {
      const left = [...delays];
      return () => {
        const delay = left.shift();
        if (delay === undefined) throw new Error("empty");
        return delay;
      };
    },
  };
  let calls = 0;
  const connect = async ({ signal }: { readonly signal: AbortSignal }) => {
    const script = scripts[calls++] ?? { duration: Infinity, lifetime: 0, isLost: false };
    if (calls <= scripts.length) note("connect");
    await clock.sleep(script.duration, { signal });
    if (script.lifetime === "refused") throw new Error("refused");
    return { lifetime: script.lifetime, isLost: script.isLost };
  };
  const use = async ({ lifetime, isLost }: Awaited<ReturnType<typeof connect>>) => {
    note("use");
    await clock.sleep(lifetime);
    if (isLost) throw new Error("lost");
  };
  const always = { resetAfter: 0, random: () => 0 };
  const limits = { minConnectTimeout: Infinity, signal: stop.signal, clock, ...always };
  const kept = keepConnected(connect, use, { backoff, onError: () => {}, ...limits }).then(
    () => note("resolved"),
    (error: unknown) => note((error as Error).message),
  );
  const abort = clock.afterFunc(abortAt, () => stop.abort());
  await clock.run(() => kept);
  abort.stop();
  expect([clock.waiters(), abortListeners(stop.signal)]).toEqual([0, 0]);
  return events;
}

it(`keepConnected connects, uses and ends as documented in ${RUNS} histories`, async () => {
  const from = inject("seed");
  for (let seed = from; seed < from + RUNS; seed++) {
    const history = historyOf(seed);
    const message = `SEED=${seed}: ${JSON.stringify(history)}`;
    expect(await actual(history), message).toEqual(expected(history));
  }
});
