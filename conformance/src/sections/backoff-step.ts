import { Backoff, type BackoffOptions } from "@holdfast/wait";
import { type GoBackoff, optionsOf, rejectedOf } from "../go-backoff.ts";
import { type GoInt, toNanoseconds } from "../nanoseconds.ts";
import { rejections, withRejected } from "../rejections.ts";
import { SaturatingBackoff } from "../saturating-backoff.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";
import { Uniforms } from "../uniforms.ts";

interface StepCase {
  readonly id: number;
  readonly in: Required<GoBackoff>;
  readonly u: readonly number[];
  readonly step: readonly GoInt[];
  readonly durAfter: readonly GoInt[];
  readonly stepsAfter: readonly GoInt[];
  readonly delayFunc: readonly GoInt[];
  readonly big?: boolean;
  readonly overflow?: boolean;
}

/** `(*Backoff).Step` with the state after each step, and `Backoff.DelayFunc`. */
export const backoffStep: Section<StepCase> = {
  file: "backoff-step.json",
  name: "cases",
  fields: [
    "id",
    "in.duration",
    "in.factor",
    "in.jitter",
    "in.steps",
    "in.cap",
    "u",
    "step",
    "durAfter",
    "stepsAfter",
    "delayFunc",
    "big",
    "overflow",
  ],
  unseen: {},
  rules: ["rejected-at-the-door", "no-overflow"],

  recorded: ({ u, step, durAfter, stepsAfter, delayFunc }) =>
    fieldsOf({ draws: [u.length, u.length], step, durAfter, stepsAfter, delayFunc }),

  predict(kase, recorded, inForce) {
    const hasCounterpart = optionsOf(kase.in) !== undefined;
    const rejected = inForce.has("rejected-at-the-door") ? Object.keys(rejectedOf(kase.in)) : [];
    const wraps = inForce.has("no-overflow") && kase.overflow === true && hasCounterpart;
    const steps = wraps ? saturated(kase) : recorded;
    return withRejected(rejected, rejected.length === 0 || hasCounterpart ? steps : {});
  },

  replay(kase) {
    const rejected = rejections(
      rejectedOf(kase.in),
      (option) => new Backoff({ duration: 1, ...option }),
    );
    const options = optionsOf(kase.in);
    return options === undefined ? { rejected } : { rejected, ...stepped(kase, options) };
  },
};

function stepped({ u, step }: StepCase, options: BackoffOptions): Fields {
  const uniforms = new Uniforms(u);
  const backoff = new Backoff({ ...options, random: uniforms.next });
  const states = step.map(() => ({
    delay: toNanoseconds(backoff.step()),
    duration: toNanoseconds(backoff.duration),
    steps: BigInt(backoff.steps),
  }));
  const again = new Uniforms(u);
  const next = new Backoff({ ...options, random: again.next }).delayFunc();
  const delayFunc = step.map(() => toNanoseconds(next()));
  const draws = [BigInt(uniforms.drawn), BigInt(again.drawn)];
  return { draws, ...columnsOf(states), delayFunc };
}

function saturated({ in: go, u, step }: StepCase): Fields {
  const uniforms = new Uniforms(u);
  const backoff = new SaturatingBackoff({
    duration: Number(go.duration),
    factor: Number(go.factor),
    jitter: Number(go.jitter),
    steps: go.steps,
    cap: Number(go.cap),
  });
  const states = step.map(() => ({
    delay: backoff.step(uniforms.next),
    duration: BigInt(backoff.duration),
    steps: BigInt(backoff.steps),
  }));
  const drawn = BigInt(uniforms.drawn);
  const delayFunc = states.map(({ delay }) => delay);
  return { draws: [drawn, drawn], ...columnsOf(states), delayFunc };
}

interface State {
  readonly delay: bigint;
  readonly duration: bigint;
  readonly steps: bigint;
}

function columnsOf(states: readonly State[]): Fields {
  return {
    step: states.map(({ delay }) => delay),
    durAfter: states.map(({ duration }) => duration),
    stepsAfter: states.map(({ steps }) => steps),
  };
}
