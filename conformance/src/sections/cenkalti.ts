import { SymmetricJitterBackoff } from "@holdfast/wait/strategies";
import {
  EXPONENTIAL_FIELDS,
  ExponentialModel,
  type GoExponential,
  Limits,
  rejectedOf,
  settingsOf,
} from "../go-exponential.ts";
import { type GoInt, toNanoseconds } from "../nanoseconds.ts";
import { rejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf, type Leaf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface ExponentialCase {
  readonly in: GoExponential & { readonly default?: boolean };
  readonly ops: readonly (readonly [name: string, by?: number])[];
  readonly out: readonly GoInt[];
  readonly u: readonly number[];
  readonly overflow?: boolean;
}

/** `NextBackOff`, `Reset` and the passing of time. */
export const exponentialBackOffs: Section<ExponentialCase> = {
  file: "cenkalti.json",
  name: "cases",
  fields: [...EXPONENTIAL_FIELDS, "id", "in.default", "ops", "out", "u", "overflow"],
  unseen: { currentInterval: "private; the delays show it" },
  rules: ["rejected-at-the-door", "no-overflow", "limits-of-the-loop"],

  recorded: ({ u, out }) => fieldsOf({ draws: u.length, out }),

  predict(kase, recorded, inForce) {
    const rejected = Object.keys(rejectedOf(kase.in));
    if (rejected.length > 0)
      return inForce.has("rejected-at-the-door") ? withRejected(rejected, {}) : recorded;
    if (kase.overflow === true && !inForce.has("no-overflow")) return recorded;
    const { draws, out } = modelled(kase, inForce.has("limits-of-the-loop"));
    return { draws, out: kase.overflow === true ? out : precise(out, recorded) };
  },

  replay(kase) {
    const rejected = rejections(
      rejectedOf(kase.in),
      (option) => new SymmetricJitterBackoff(option),
    );
    if (Object.keys(rejectedOf(kase.in)).length > 0) return { rejected };
    const uniforms = new Uniforms(kase.u);
    const options = kase.in.default === true ? {} : settingsOf(kase.in);
    const backoff = new SymmetricJitterBackoff({ ...options, random: uniforms.next });
    let next = backoff.delayFunc();
    const delays = {
      next: () => Number(toNanoseconds(next())),
      reset: () => {
        next = backoff.delayFunc();
      },
    };
    const out = operated(kase, delays, () => undefined);
    return { draws: BigInt(uniforms.drawn), out };
  },
};

/** The model computes with numbers; what they cannot hold to the nanosecond is as recorded. */
function precise(out: readonly Leaf[], recorded: Fields): Fields[string] {
  const delays = recorded["out"] as readonly bigint[];
  return out.map((delay, index) =>
    typeof delay === "bigint" && delay > 2n ** 53n ? delays[index] : delay,
  );
}

function modelled(
  kase: ExponentialCase,
  limitsOfTheLoop: boolean,
): { readonly draws: bigint; readonly out: readonly Leaf[] } {
  const uniforms = new Uniforms(kase.u);
  const model = new ExponentialModel(kase.in);
  const delays = { next: () => model.next(uniforms.next()), reset: () => model.reset() };
  const out = operated(kase, delays, (value) => (limitsOfTheLoop ? undefined : value));
  return { draws: BigInt(uniforms.drawn), out };
}

interface Delays {
  readonly next: () => number;
  readonly reset: () => void;
}

/**
 * Does what the case says.
 *
 * @param delays - gives the delays, in nanoseconds
 * @param ofLimits - what to make of a value of Go that tells of its limits: a Stop, the time elapsed
 */
function operated(
  { in: go, ops }: ExponentialCase,
  delays: Delays,
  ofLimits: (value: bigint) => Leaf,
): Leaf[] {
  const limits = new Limits(go);
  return ops.map(([name, by = 0]) => {
    switch (name) {
      case "next": {
        if (!limits.takeRetry()) return ofLimits(-1n);
        const delay = delays.next();
        return limits.hasTimeFor(delay) ? BigInt(delay) : ofLimits(BigInt(go.stop));
      }
      case "reset":
        limits.reset();
        delays.reset();
        return ofLimits(0n);
      case "advance":
        limits.elapsed += by;
        return ofLimits(BigInt(limits.elapsed));
      default:
        throw new Error(`unknown operation ${name}`);
    }
  });
}
