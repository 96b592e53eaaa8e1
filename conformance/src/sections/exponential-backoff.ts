import { exponentialBackoff } from "@holdfast/wait/go";
import {
  type ConditionCase,
  type ConditionInput,
  conditionFields,
  outcomeOf,
} from "../condition-case.ts";
import { type Call, conditionRun } from "../condition-run.ts";
import { optionsOf, rejectedOf } from "../go-backoff.ts";
import { promiseRejections, withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { fieldsOf } from "../trace.ts";

/** `ExponentialBackoff` and `ExponentialBackoffWithContext`. */
export const exponentialBackoffCases: Section<ConditionCase> = {
  file: "exponential-backoff-condition.json",
  name: "cases",
  fields: conditionFields,
  unseen: {},
  rules: ["rejected-at-the-door"],

  recorded(kase) {
    const { u = [], ...outcome } = outcomeOf(kase);
    return fieldsOf({ ...outcome, draws: u.length });
  },

  predict({ in: input }, recorded, inForce) {
    const backoff = backoffOf(input);
    const rejected = inForce.has("rejected-at-the-door") ? Object.keys(rejectedOf(backoff)) : [];
    return withRejected(
      rejected,
      rejected.length > 0 && optionsOf(backoff) === undefined ? {} : recorded,
    );
  },

  async replay({ in: input, out }) {
    const backoff = backoffOf(input);
    const rejected = await promiseRejections(rejectedOf(backoff), (option) =>
      exponentialBackoff(() => true, { backoff: { duration: 1, ...option } }),
    );
    if (optionsOf(backoff) === undefined) return { rejected };
    const trace = await conditionRun(input, out.u ?? [], (call) => ask(input, call));
    const { arms: _arms, waitersLeft: _waitersLeft, ...outcome } = trace;
    return { rejected, ...outcome };
  },
};

function backoffOf({ backoff }: ConditionInput): NonNullable<ConditionInput["backoff"]> {
  if (backoff === undefined) throw new Error("a case without a backoff");
  return backoff;
}

async function ask(input: ConditionInput, { condition, random, ...call }: Call): Promise<void> {
  const { signal, ...uncancellable } = call;
  const options = optionsOf(backoffOf(input));
  if (options === undefined) throw new Error("a backoff without a counterpart");
  const backoff = { ...options, random };
  switch (input.api) {
    case "ExponentialBackoff":
      return await exponentialBackoff(condition, { ...uncancellable, backoff });
    case "ExponentialBackoffWithContext":
      return await exponentialBackoff(condition, { ...uncancellable, signal, backoff });
    default:
      throw new Error(`unknown function ${input.api}`);
  }
}
