import { Backoff } from "@holdfast/wait";
import { delayUntil, type PollUntilOptions, pollUntil } from "@holdfast/wait/go";
import {
  type ConditionCase,
  type ConditionInput,
  conditionFields,
  outcomeOf,
} from "../condition-case.ts";
import { type Call, conditionRun } from "../condition-run.ts";
import { type GoBackoff, optionsOf } from "../go-backoff.ts";
import { toMilliseconds } from "../nanoseconds.ts";
import { modelOfPoll } from "../poll-model.ts";
import { outOfRange, promiseRejections, withRejected } from "../rejections.ts";
import type { RuleId } from "../rules.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf } from "../trace.ts";

type TimerKind = "fixed" | "variable" | "noop";

interface TimerKindCase {
  readonly in: Required<GoBackoff>;
  readonly kind: TimerKind;
}

/** Which timer `Backoff.Timer` chooses. */
function timerKindOf({ duration, jitter, steps }: Required<GoBackoff>): TimerKind {
  if (steps > 1 || Number(jitter) !== 0) return "variable";
  return Number(duration) > 0 ? "fixed" : "noop";
}

/** What is polled at a fixed interval; undefined where each delay is another. */
function intervalOf({ api, interval, backoff }: ConditionInput): number | undefined {
  if (backoff === undefined) return Math.max(Number(interval), 0);
  const isConstant = api !== "DelayFunc.Until" && timerKindOf(backoff) !== "variable";
  return isConstant ? Math.max(Number(backoff.duration), 0) : undefined;
}

/** A timeout of 0 is none for the deprecated functions; below 0 it is over, as at 0. */
function timeoutOf(input: ConditionInput): number | undefined {
  const timeout = Number(input.timeout ?? Number.POSITIVE_INFINITY);
  if (isDeprecated(input) && timeout === 0) return undefined;
  return timeout < Number.POSITIVE_INFINITY ? Math.max(timeout, 0) : undefined;
}

const DEPRECATED: readonly string[] = [
  "PollWithContext",
  "PollImmediateWithContext",
  "PollUntilWithContext",
  "PollImmediateUntilWithContext",
];

const FUNCTIONS: readonly string[] = [
  ...DEPRECATED,
  "PollUntilContextCancel",
  "PollUntilContextTimeout",
  "loopConditionUntilContext",
  "DelayFunc.Until",
];

function isDeprecated({ api }: ConditionInput): boolean {
  return DEPRECATED.includes(api);
}

function pollSection(name: string, rules: readonly RuleId[]): Section<ConditionCase> {
  return {
    file: "poll.json",
    name,
    fields: conditionFields,
    unseen: {},
    rules,

    recorded(kase) {
      const { u = [], arms, waitersLeft, ...outcome } = outcomeOf(kase);
      const clock = arms === undefined ? {} : { arms: arms.map(armOf), waitersLeft };
      return fieldsOf({ ...outcome, ...clock, draws: u.length });
    },

    predict({ in: input }, recorded, inForce) {
      const rejected = inForce.has("rejected-at-the-door") ? Object.keys(rejectedOf(input)) : [];
      const interval = intervalOf(input);
      const replaced = inForce.has("deprecated-polls") && isDeprecated(input);
      const slides = inForce.has("sliding-slides") && input.sliding;
      const outcome =
        interval !== undefined && (replaced || slides)
          ? fieldsOf(modelOfPoll(input, { interval, ticks: !slides, timeout: timeoutOf(input) }))
          : {};
      const stopped =
        inForce.has("ticker-stops") && "waitersLeft" in recorded ? { waitersLeft: 0n } : {};
      return withRejected(rejected, { ...recorded, ...outcome, ...stopped });
    },

    async replay({ in: input, out }) {
      const rejected = await promiseRejections(rejectedOf(input), ({ interval = 1, ...option }) =>
        pollUntil(() => true, interval, option),
      );
      const trace = await conditionRun(input, out.u ?? [], (call) => poll(input, call));
      const { arms, waitersLeft, ...outcome } = trace;
      if (out.arms === undefined) return { rejected, ...outcome };
      const isFixed = intervalOf(input) !== undefined;
      const shown = isFixed ? (arms as readonly Fields[]).slice(0, 1) : arms;
      return { rejected, ...outcome, arms: shown, waitersLeft };
    },
  };
}

/** Go's ticker is armed once; of our timer the first arming is compared. */
function armOf(arm: { readonly op: string }): object {
  return arm.op === "ticker" ? { ...arm, op: "new" } : arm;
}

/** The function that stands for the one of Go. */
async function poll(input: ConditionInput, { condition, random, ...call }: Call): Promise<void> {
  const { immediate, sliding, backoff } = input;
  const timeout = timeoutOf(input);
  const options: PollUntilOptions = {
    ...call,
    immediate,
    sliding,
    timeout: timeout === undefined ? undefined : toMilliseconds(timeout),
  };
  if (!FUNCTIONS.includes(input.api)) throw new Error(`unknown function ${input.api}`);
  const interval = intervalOf(input);
  if (interval !== undefined) await pollUntil(condition, toMilliseconds(interval), options);
  else await delayUntil(delaysOf(backoff, random), condition, options);
}

function delaysOf(backoff: GoBackoff | undefined, random: () => number): () => number {
  const options = backoff && optionsOf(backoff);
  if (options === undefined) throw new Error("a backoff without a counterpart");
  return new Backoff({ ...options, random }).delayFunc();
}

function rejectedOf({ interval, timeout }: ConditionInput): Record<string, number> {
  return outOfRange({
    interval: toMilliseconds(interval),
    timeout: toMilliseconds(timeout ?? 0),
  });
}

/** The polls, and `DelayFunc.Until`, on virtual time. */
export const virtualPolls: Section<ConditionCase> = pollSection("virtual", [
  "rejected-at-the-door",
  "sliding-slides",
  "deprecated-polls",
]);

/** The loop behind the polls, on Go's fake clock. */
export const fakeClockPolls: Section<ConditionCase> = pollSection("fakeClock", [
  "sliding-slides",
  "ticker-stops",
]);

/**
 * Which timer `Backoff.Timer` chooses. The other sections of polls replay a fixed or noop timer with
 * `pollUntil` and a variable one with `delayUntil`; this compares the rule by which they choose.
 */
export const timerKinds: Section<TimerKindCase> = {
  file: "poll.json",
  name: "timerKinds",
  fields: ["kind", ...["duration", "factor", "jitter", "steps", "cap"].map((name) => `in.${name}`)],
  unseen: {},
  rules: [],
  recorded: ({ kind }) => ({ kind }),
  predict: (_, recorded) => recorded,
  replay: ({ in: backoff }) => ({ kind: timerKindOf(backoff) }),
};
