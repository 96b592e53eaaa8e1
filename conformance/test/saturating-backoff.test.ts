import { describe, expect, it } from "vitest";
import { drawn } from "../../test/drawn.ts";
import { replaySection } from "../src/replay.ts";
import { backoffStep } from "../src/sections/backoff-step.ts";
import { flowcontrolCases } from "../src/sections/flowcontrol.ts";
import { jitterCases } from "../src/sections/jitter.ts";
import { exponential } from "../src/sections/managers.ts";
import { readGolden } from "./golden-directory.ts";

describe("the algorithm behind rule no-overflow", () => {
  it.each([backoffStep, flowcontrolCases, jitterCases, exponential])(
    "equals Go's without an overflow: $file $name",
    async (section) => {
      const cases: readonly object[] = drawn(readGolden(section.file)[section.name], 8);
      const asIfOverflowing = cases
        .filter((kase) => !("overflow" in kase))
        .map((kase) => ({ ...kase, overflow: true }));
      const { problems } = await replaySection(section, asIfOverflowing);
      expect(problems).toEqual([]);
    },
  );
});
