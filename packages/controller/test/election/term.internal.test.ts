import { FakeClock } from "@holdfast/clock/testing";
import { expect, it } from "vitest";
import { Term } from "../../src/election/term.ts";

it("is not lost once its work has settled", () => {
  const clock = new FakeClock();
  const grant = { token: 0, since: clock.monotonic(), renewedAt: clock.now() };
  const term = new Term({ clock, grant, renewDeadline: 10_000, leaseDuration: 15_000 });
  term.finish();
  term.lose("expired");
  expect([term.state, term.lost.aborted]).toEqual(["finished", false]);
});
