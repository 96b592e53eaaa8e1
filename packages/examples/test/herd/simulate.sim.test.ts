import { Backoff, type BackoffStrategy } from "@holdfast/wait";
import { describe, expect, it, vi } from "vitest";
import { forms } from "../../src/herd/forms.ts";
import { scenario } from "../../src/herd/scenario.ts";
import { simulate } from "../../src/herd/simulate.ts";

// Simulations take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 });

const outage = { ...scenario(1), clients: 100 };

function form(backoff: BackoffStrategy) {
  return { name: "x", title: "x", range: "x", backoff: () => backoff };
}

it("counts the calls of three clients without jitter", async () => {
  const everySecond = form(new Backoff({ duration: 1_000 }));
  const crowd = { clients: 3, outage: 1_500, workers: 1, service: 100, interval: 500, seed: 1 };
  const { down, idle, busy } = {
    down: { down: 3, refused: 0, accepted: 0 },
    idle: { down: 0, refused: 0, accepted: 0 },
    busy: (refused: number) => ({ down: 0, refused, accepted: 1 }),
  };
  expect(await simulate(everySecond, crowd)).toEqual({
    form: "x",
    inVain: 6, // at 0 and 1,000
    calls: 6, // at 2,000, 3,000 and 4,000
    peak: 3,
    lastServed: 4_100 - 1_500,
    intervals: [down, idle, down, idle, busy(2), idle, busy(1), idle, busy(0)],
  });
});

describe.each(forms)("$title", (form) => {
  it("serves each client once, and accounts for every call", async () => {
    const { inVain, calls, intervals } = await simulate(form, outage);
    const sum = (outcome: "down" | "refused" | "accepted"): number =>
      intervals.reduce((total, interval) => total + interval[outcome], 0);
    expect(sum("accepted")).toBe(100);
    expect(sum("down")).toBe(inVain);
    expect(sum("accepted") + sum("refused")).toBe(calls);
  });

  it("accepts no more than the server can serve", async () => {
    const { intervals } = await simulate(form, outage);
    const most = outage.workers * (outage.interval / outage.service + 1);
    for (const { accepted } of intervals) expect(accepted).toBeLessThanOrEqual(most);
  });

  it("the same seed gives the same run", async () => {
    expect(await simulate(form, outage)).toEqual(await simulate(form, outage));
  });
});

// Form, calls, peak and the end. Once looked at and held from then on: a change of any draw or delay
// changes them.
it("two hundred clients repeat the recorded run", async () => {
  const figures = [];
  for (const form of forms) {
    const { calls, peak, lastServed } = await simulate(form, { ...outage, clients: 200 });
    figures.push([form.name, calls, peak, Math.round(lastServed)]);
  }
  expect(figures).toEqual([
    ["none", 2_100, 200, 192_800],
    ["proportional-10", 355, 97, 25_098],
    ["proportional-50", 209, 22, 21_561],
    ["symmetric", 222, 33, 15_268],
    ["equal", 206, 25, 10_211],
    ["decorrelated", 207, 28, 10_085],
    ["full", 200, 11, 9_150],
  ]);
});
