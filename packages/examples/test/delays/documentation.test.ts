import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { samplePicture } from "../../src/delays/sample.ts";

it("the picture in the documentation shows the delays of Backoff", () => {
  const drawn = readFileSync(new URL("../../../../docs/img/delays.svg", import.meta.url), "utf8");
  expect(drawn === samplePicture(), "to draw it anew: npm run docs").toBe(true);
});
