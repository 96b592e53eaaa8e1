import {
  createManager,
  type GoManager,
  hasCounterpart,
  managerRejections,
  rejectedNames,
} from "../go-manager.ts";
import { managedRounds, type Rounds } from "../managed-rounds.ts";
import type { GoInt } from "../nanoseconds.ts";
import { withRejected } from "../rejections.ts";
import { SaturatingBackoff } from "../saturating-backoff.ts";
import type { Section } from "../section.ts";
import { fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface ManagerCase {
  readonly id: number;
  readonly kind: string;
  readonly in: Record<string, GoInt>;
  readonly adv: readonly GoInt[];
  readonly u: readonly number[];
  readonly out: readonly GoInt[];
  readonly fired: readonly number[];
  readonly overflow?: boolean;
}

function goManagerOf({ kind, in: go }: ManagerCase): GoManager {
  return { period: go["duration"], ...go, kind } as GoManager;
}

function managerSection(
  name: GoManager["kind"],
  inputs: readonly string[],
  unseen: Section["unseen"],
  rules: Section["rules"],
): Section<ManagerCase> {
  return {
    file: "exponential-manager.json",
    name,
    fields: [...inputs, "id", "kind", "adv", "u", "out", "fired", "overflow"],
    unseen,
    rules,

    recorded: ({ u, out, fired }) => fieldsOf({ draws: u.length, out, fired }),

    predict(kase, recorded, inForce) {
      const go = goManagerOf(kase);
      const rejected = inForce.has("rejected-at-the-door") ? rejectedNames(go) : [];
      const wraps = inForce.has("no-overflow") && kase.overflow === true;
      const rounds = wraps ? { ...recorded, ...saturated(go, kase) } : recorded;
      return withRejected(rejected, rejected.length === 0 || hasCounterpart(go) ? rounds : {});
    },

    replay(kase) {
      if (kase.kind !== name) throw new Error(`unknown kind ${kase.kind}`);
      const go = goManagerOf(kase);
      const rejected = managerRejections(go);
      if (!hasCounterpart(go)) return { rejected };
      const uniforms = new Uniforms(kase.u);
      const rounds = managedRounds(kase.adv, (clock) => createManager(go, clock, uniforms.next));
      return { rejected, draws: BigInt(uniforms.drawn), ...rounds };
    },
  };
}

function saturated(go: GoManager, { adv, u }: ManagerCase): Rounds {
  if (go.kind !== "exponential") throw new Error("only a delay that grows can overflow");
  const uniforms = new Uniforms(u);
  const backoff = new SaturatingBackoff({
    duration: Number(go.init),
    factor: Number(go.factor),
    jitter: Number(go.jitter),
    steps: Number.POSITIVE_INFINITY,
    cap: Number(go.max),
  });
  const out = adv.map((advance) => {
    if (Number(advance) > Number(go.reset)) backoff.reset();
    return backoff.step(uniforms.next);
  });
  const fired = adv.map((advance, round) => {
    const armed = out[round - 1];
    return armed !== undefined && armed <= BigInt(advance) ? 1n : 0n;
  });
  return { out, fired };
}

const inBackoffStep = "private in the manager; backoff-step.json compares the same state";

/** `NewExponentialBackoffManager`. */
export const exponential: Section<ManagerCase> = managerSection(
  "exponential",
  ["in.init", "in.max", "in.reset", "in.factor", "in.jitter"],
  { stateDuration: inBackoffStep, stateSteps: inBackoffStep },
  ["rejected-at-the-door", "no-overflow"],
);

/** `NewJitteredBackoffManager`. */
export const jittered: Section<ManagerCase> = managerSection(
  "jittered",
  ["in.duration", "in.jitter"],
  {},
  ["rejected-at-the-door"],
);
