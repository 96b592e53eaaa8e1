import { AttemptBackoff } from "@holdfast/wait/strategies";
import { type GoAttempts, isOneNumber, optionsOf, rejectedOf } from "../go-attempts.ts";
import { type GoFloat, type GoInt, toNanoseconds } from "../nanoseconds.ts";
import { rejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface SequenceCase {
  readonly in: GoAttempts;
  readonly out: readonly GoInt[];
  readonly u: readonly number[];
  readonly attemptAfter: number;
  readonly afterReset: GoInt;
  readonly uReset?: readonly number[];
}

interface AttemptCase {
  readonly in: GoAttempts;
  readonly attempt: GoFloat;
  readonly out: GoInt;
  readonly u: readonly number[];
}

const FIELDS = ["in.min", "in.max", "in.factor", "in.jitter", "out", "u", "overflow"];

/** Twenty calls of `Duration`, then `Reset` and one more. */
export const attemptSequences: Section<SequenceCase> = {
  file: "jpillora.json",
  name: "sequences",
  fields: [...FIELDS, "id", "attemptAfter", "afterReset", "uReset"],
  unseen: { pow: "an intermediate result; the delays show it" },
  rules: ["rejected-at-the-door"],

  recorded: ({ in: go, u, uReset = [], out, attemptAfter, afterReset }) => ({
    ...drawsOf(go, u.length + uReset.length),
    ...fieldsOf({ out, delayFunc: out, attemptAfter, afterReset }),
  }),

  predict({ in: go }, recorded, inForce) {
    if (!inForce.has("rejected-at-the-door")) return recorded;
    const rejected = Object.keys(rejectedOf(go));
    return withRejected(rejected, optionsOf(go) === undefined ? {} : recorded);
  },

  replay({ in: go, u, uReset = [], out }) {
    const rejected = rejections(rejectedOf(go), (option) => new AttemptBackoff(option));
    const options = optionsOf(go);
    if (options === undefined) return { rejected };
    const uniforms = new Uniforms([...u, ...uReset]);
    const backoff = new AttemptBackoff({ ...options, random: uniforms.next });
    const delays = out.map(() => toNanoseconds(backoff.duration()));
    const attemptAfter = BigInt(backoff.attempt());
    backoff.reset();
    const afterReset = toNanoseconds(backoff.duration());
    const draws = drawsOf(go, uniforms.drawn);
    const next = new AttemptBackoff({ ...options, random: new Uniforms(u).next }).delayFunc();
    const delayFunc = out.map(() => toNanoseconds(next()));
    return { rejected, ...draws, out: delays, delayFunc, attemptAfter, afterReset };
  },
};

/** `ForAttempt(x)`. */
export const forAttempt: Section<AttemptCase> = {
  file: "jpillora.json",
  name: "forAttempt",
  fields: [...FIELDS, "attempt"],
  unseen: { pow: "an intermediate result; the delay shows it" },
  rules: ["rejected-at-the-door"],

  recorded: ({ in: go, u, out }) => ({ ...drawsOf(go, u.length), ...fieldsOf({ out }) }),

  predict(kase, recorded, inForce) {
    if (!inForce.has("rejected-at-the-door")) return recorded;
    const rejected = Object.keys({ ...rejectedOf(kase.in), ...rejectedAttempt(kase) });
    return withRejected(rejected, hasCounterpart(kase) ? recorded : {});
  },

  replay(kase) {
    const wrong = { ...rejectedOf(kase.in), ...rejectedAttempt(kase) };
    const rejected = rejections(wrong, ({ attempt = 0, ...option }) =>
      new AttemptBackoff(option).forAttempt(attempt),
    );
    if (!hasCounterpart(kase)) return { rejected };
    const uniforms = new Uniforms(kase.u);
    const backoff = new AttemptBackoff({ ...optionsOf(kase.in), random: uniforms.next });
    const out = toNanoseconds(backoff.forAttempt(Number(kase.attempt)));
    return { rejected, ...drawsOf(kase.in, uniforms.drawn), out };
  },
};

function drawsOf(go: GoAttempts, count: number): Fields {
  return isOneNumber(go) ? {} : { draws: BigInt(count) };
}

/** Attempts are counted: half an attempt, or less than none, is a mistake. */
function rejectedAttempt({ attempt }: AttemptCase): Record<string, number> {
  const number = Number(attempt);
  const counts = number === Number.POSITIVE_INFINITY || Number.isInteger(number);
  return counts && number >= 0 ? {} : { attempt: number };
}

function hasCounterpart(kase: AttemptCase): boolean {
  return optionsOf(kase.in) !== undefined && Object.keys(rejectedAttempt(kase)).length === 0;
}
