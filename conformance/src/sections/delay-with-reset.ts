import { FakeClock } from "@holdfast/clock/testing";
import { Backoff, type BackoffOptions } from "@holdfast/wait";
import { backoffManager } from "@holdfast/wait/loop";
import { type GoBackoff, optionsOf, rejectedOf } from "../go-backoff.ts";
import { managedRounds } from "../managed-rounds.ts";
import { type GoInt, toMilliseconds, toNanoseconds } from "../nanoseconds.ts";
import { outOfRange, rejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface ResetCase {
  readonly id: number;
  readonly kind: string;
  readonly in: Required<GoBackoff> & { readonly resetInterval: GoInt };
  readonly adv: readonly GoInt[];
  readonly u: readonly number[];
  readonly out: readonly GoInt[];
  readonly fired?: readonly number[];
}

/** `Backoff.DelayWithReset`, called directly and behind a timer. */
export const delayWithReset: Section<ResetCase> = {
  file: "exponential-manager.json",
  name: "delayWithReset",
  fields: [
    "id",
    "kind",
    "in.duration",
    "in.factor",
    "in.jitter",
    "in.steps",
    "in.cap",
    "in.resetInterval",
    "adv",
    "u",
    "out",
    "fired",
  ],
  unseen: {},
  rules: ["rejected-at-the-door"],

  recorded: ({ u, out, fired }) => fieldsOf({ draws: u.length, out, fired }),

  predict({ in: go }, recorded, inForce) {
    if (!inForce.has("rejected-at-the-door")) return recorded;
    const rejected = Object.keys(rejectedByReset(go));
    return withRejected(rejected, optionsOf(go) === undefined ? {} : recorded);
  },

  replay(kase) {
    const clock = new FakeClock();
    const rejected = rejections(rejectedByReset(kase.in), ({ resetInterval = 0, ...option }) =>
      new Backoff({ duration: 1, ...option }).delayWithReset(clock, resetInterval),
    );
    const options = optionsOf(kase.in);
    if (options === undefined) return { rejected };
    const uniforms = new Uniforms(kase.u);
    const rounds = replayKind(kase, { ...options, random: uniforms.next });
    return { rejected, draws: BigInt(uniforms.drawn), ...rounds };
  },
};

function rejectedByReset(go: ResetCase["in"]): Record<string, number> {
  const resetInterval = outOfRange({ resetInterval: toMilliseconds(go.resetInterval) });
  return { ...rejectedOf(go), ...resetInterval };
}

function replayKind({ kind, in: go, adv }: ResetCase, options: BackoffOptions): Fields {
  const backoff = new Backoff(options);
  // Below 0 it is in Go what it is at 0: the delay does not grow.
  const resetInterval = Math.max(toMilliseconds(go.resetInterval), 0);
  switch (kind) {
    case "delayWithReset": {
      const clock = new FakeClock();
      const next = backoff.delayWithReset(clock, resetInterval);
      const out = adv.map((advance) => {
        clock.stepSync(toMilliseconds(advance));
        return toNanoseconds(next());
      });
      return { out };
    }
    case "delayWithResetTimer":
      return managedRounds(adv, (clock) =>
        backoffManager(
          { delayFunc: () => backoff.delayWithReset(clock, resetInterval) },
          { clock },
        ),
      );
    default:
      throw new Error(`unknown kind ${kind}`);
  }
}
