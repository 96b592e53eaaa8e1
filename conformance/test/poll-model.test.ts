import { expect, it } from "vitest";
import type { ConditionCase } from "../src/condition-case.ts";
import { outcomeOf } from "../src/condition-case.ts";
import { modelOfPoll } from "../src/poll-model.ts";
import { readGolden } from "./golden-directory.ts";

const APIS = ["PollUntilContextCancel", "PollUntilContextTimeout"];

it("the algorithm behind the rules of the polls equals Go's unless a rule applies", () => {
  const cases: ConditionCase[] = readGolden("poll.json").virtual;
  const polls = cases.filter(({ in: { api } }) => APIS.includes(api));
  for (const kase of polls) {
    const { interval, timeout } = kase.in;
    const model = modelOfPoll(kase.in, {
      interval: Math.max(Number(interval), 0),
      ticks: true,
      timeout: timeout === undefined ? undefined : Math.max(Number(timeout), 0),
    });
    expect([kase.id, model]).toEqual([kase.id, outcomeOf(kase)]);
  }
  expect(polls).toHaveLength(206);
});

it("also if the loop behind them ignores sliding", () => {
  const { virtual, fakeClock } = readGolden("poll.json");
  const sliding = [...virtual, ...fakeClock].filter(
    ({ in: { backoff, sliding, api } }) =>
      sliding && api !== "DelayFunc.Until" && backoff.steps <= 1 && backoff.jitter === 0,
  );
  for (const kase of sliding) {
    const interval = kase.in.backoff.duration;
    const { u, arms, waitersLeft, ...out } = outcomeOf(kase) as never as Record<string, unknown>;
    expect(modelOfPoll(kase.in, { interval, ticks: true, timeout: undefined })).toEqual(out);
  }
  expect(sliding).toHaveLength(90);
});
