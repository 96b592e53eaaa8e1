import { RepeatedLines } from "@holdfast/clock/internal";
import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";

it("logs the first failure of a text, then one a minute with the number of them", async () => {
  const clock = new FakeClock();
  const lines = new RepeatedLines(clock);
  const logged: unknown[] = [];
  for (let second = 0; second < 150; second++) {
    logged.push(lines.detailsOf("down"));
    await clock.step(1_000);
  }
  expect(logged.filter((one) => one !== undefined)).toEqual([{}, { count: 60 }, { count: 60 }]);
});

it("logs each new text, and remembers a hundred", () => {
  const lines = new RepeatedLines(new FakeClock());
  const texts = Array.from({ length: 101 }, (_, i) => `failure ${i}`);
  for (const text of texts) expect(lines.detailsOf(text)).toEqual({});
  expect(lines.detailsOf("failure 100")).toBeUndefined();
  expect(lines.detailsOf("failure 0")).toEqual({}); // forgotten
});
