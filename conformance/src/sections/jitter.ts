import { Jitter } from "@holdfast/wait";
import { type GoFloat, type GoInt, toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import { outOfRange, rejections, withRejected } from "../rejections.ts";
import { addShare } from "../saturating-backoff.ts";
import type { Section } from "../section.ts";
import { fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface JitterCase {
  readonly d: GoInt;
  readonly maxFactor: GoFloat;
  readonly u: number;
  readonly out: GoInt;
  readonly overflow?: boolean;
}

/** `Jitter(duration, maxFactor)`. */
export const jitterCases: Section<JitterCase> = {
  file: "jitter.json",
  name: "cases",
  fields: ["d", "maxFactor", "u", "out", "overflow"],
  unseen: {},
  rules: ["rejected-at-the-door", "no-overflow"],

  recorded: ({ out }) => fieldsOf({ draws: 1, out }),

  predict(kase, recorded, inForce) {
    const maxFactor = maxFactorOf(kase);
    const rejected = inForce.has("rejected-at-the-door") ? Object.keys(rejectedOf(kase)) : [];
    const wraps = inForce.has("no-overflow") && kase.overflow === true && maxFactor !== undefined;
    const out = wraps ? { ...recorded, out: saturated(kase, maxFactor) } : recorded;
    return withRejected(rejected, rejected.length === 0 || maxFactor !== undefined ? out : {});
  },

  replay(kase) {
    const rejected = rejections(rejectedOf(kase), ({ duration = 1, maxFactor = 1 }) =>
      Jitter(duration, maxFactor),
    );
    const maxFactor = maxFactorOf(kase);
    if (maxFactor === undefined) return { rejected };
    const uniforms = new Uniforms([kase.u]);
    const out = toNanoseconds(Jitter(toMilliseconds(kase.d), maxFactor, uniforms.next));
    return { rejected, draws: BigInt(uniforms.drawn), out };
  },
};

function rejectedOf({ d, maxFactor }: JitterCase): Record<string, number> {
  return outOfRange({ duration: toMilliseconds(d), maxFactor: Number(maxFactor) });
}

/** What Go makes of the factor: below 0 it is what it is at 0. Undefined without a counterpart. */
function maxFactorOf({ d, maxFactor }: JitterCase): number | undefined {
  const factor = Math.max(Number(maxFactor), 0);
  return Number(d) >= 0 && factor < Number.POSITIVE_INFINITY ? factor : undefined;
}

function saturated({ d, u }: JitterCase, maxFactor: number): bigint {
  return BigInt(addShare(Number(d), maxFactor === 0 ? 1 : maxFactor, u));
}
