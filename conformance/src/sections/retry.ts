import { FakeClock } from "@holdfast/clock/testing";
import type { BackoffOptions } from "@holdfast/wait";
import { ExhaustedError, isExhaustedError, onError, retryOnConflict } from "@holdfast/wait/go";
import { type GoBackoff, optionsOf } from "../go-backoff.ts";
import type { GoInt } from "../nanoseconds.ts";
import { RecordingClock } from "../recording-clock.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

type ErrorName = "retriable" | "conflict" | "fatal" | "waitTimeout" | "canceled";

interface RetryCase {
  readonly id: number;
  readonly in: {
    readonly api: string;
    readonly backoff: Required<GoBackoff>;
    /** What each call of fn comes to; the last entry repeats. */
    readonly results: readonly ("ok" | ErrorName)[];
  };
  readonly out: {
    readonly calls: readonly GoInt[];
    readonly endedAt: GoInt;
    readonly err: string;
    readonly u: readonly number[];
  };
}

/** `OnError` and `RetryOnConflict` of `client-go/util/retry`. */
export const retryCases: Section<RetryCase> = {
  file: "exponential-backoff-condition.json",
  name: "retry",
  fields: [
    "id",
    ...["api", "results"].map((name) => `in.${name}`),
    ...["duration", "factor", "jitter", "steps", "cap"].map((name) => `in.backoff.${name}`),
    ...["calls", "endedAt", "err", "u"].map((name) => `out.${name}`),
  ],
  unseen: {},
  rules: [],

  recorded: ({ out: { u, ...out } }) => fieldsOf({ ...out, draws: u.length }),

  predict: (_kase, recorded) => recorded,

  replay(kase) {
    const options = optionsOf(kase.in.backoff);
    if (options === undefined) throw new Error("a backoff without a counterpart");
    return retried(kase, options);
  },
};

/** What fn throws for each name. */
function errors(): Readonly<Record<ErrorName, unknown>> {
  return {
    retriable: new Error("retriable"),
    conflict: { code: 409, body: '{"reason":"Conflict"}' },
    fatal: new Error("fatal"),
    waitTimeout: new ExhaustedError(1),
    canceled: AbortSignal.abort().reason as unknown,
  };
}

async function retried({ in: input, out }: RetryCase, options: BackoffOptions): Promise<Fields> {
  const { api, results } = input;
  const uniforms = new Uniforms(out.u);
  const clock = new FakeClock();
  const recording = new RecordingClock(clock);
  const known = errors();
  const calls: bigint[] = [];
  const fn = (): void => {
    const result = results[Math.min(calls.length, results.length - 1)] ?? "ok";
    calls.push(recording.elapsed());
    if (result !== "ok") throw known[result];
  };
  const backoff = { ...options, random: uniforms.next };
  const end = await clock.run(() =>
    start(api, backoff, fn, known.retriable, recording).then(
      () => "nil",
      (error: unknown) => nameOf(error, known),
    ),
  );
  return { calls, endedAt: recording.elapsed(), err: end, draws: BigInt(uniforms.drawn) };
}

async function start(
  api: string,
  backoff: BackoffOptions,
  fn: () => void,
  retriable: unknown,
  clock: RecordingClock,
): Promise<void> {
  switch (api) {
    case "OnError":
      return await onError(backoff, (error) => error === retriable, fn, { clock });
    case "RetryOnConflict":
      return await retryOnConflict(backoff, fn, { clock });
    default:
      throw new Error(`unknown function ${api}`);
  }
}

function nameOf(error: unknown, known: Readonly<Record<ErrorName, unknown>>): string {
  const names = Object.keys(known) as ErrorName[];
  const name = names.find((candidate) => known[candidate] === error);
  if (name !== undefined) return name;
  if (isExhaustedError(error)) return "waitTimeout";
  throw error;
}
