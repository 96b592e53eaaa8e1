import { readFileSync } from "node:fs";
import * as wait from "@holdfast/wait";
import { expect, it } from "vitest";
import { ladder } from "../../../docs/img/ladder.mjs";

it("the ladder in the documentation is the one that Backoff climbs", () => {
  const drawn = readFileSync(new URL("../../../docs/img/ladder.svg", import.meta.url), "utf8");
  expect(drawn, "to draw it anew: npm run docs").toBe(ladder(wait));
});
