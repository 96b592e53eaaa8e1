import { describe, expect, it } from "vitest";
import { QueueHistory } from "../../../src/supervisor/web/page/queue-history.ts";

const sampleAt = (at: number) => ({ at, queue: { size: at, delayed: 0, inFlight: 0 } });

describe("the history of a queue", () => {
  it.each([
    { name: "begins with its first sample", adds: [5], keeps: [5] },
    { name: "keeps a minute", adds: [0, 1_000, 60_000], keeps: [0, 1_000, 60_000] },
    {
      name: "keeps the sample that tells how the minute began",
      adds: [0, 1_000, 60_500, 60_999],
      keeps: [0, 1_000, 60_500, 60_999],
    },
    {
      name: "drops what was over before the minute",
      adds: [0, 1_000, 60_500, 61_000],
      keeps: [1_000, 60_500, 61_000],
    },
    {
      name: "knows after an hour how it was before",
      adds: [0, 7, 3_600_000],
      keeps: [7, 3_600_000],
    },
    {
      name: "begins anew where the clock of the server was set back",
      adds: [100_000, 160_000, 500],
      keeps: [500],
    },
  ])("$name", ({ adds, keeps }) => {
    const history = new QueueHistory();
    for (const at of adds) history.add(sampleAt(at));
    expect(history.samples).toEqual(keeps.map(sampleAt));
  });
});
