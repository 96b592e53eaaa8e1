import * as streams from "@holdfast/wait/rxjs";
import { expect, it } from "vitest";

it("exports these names and no others", () => {
  expect(new Set(Object.keys(streams))).toEqual(
    new Set(["backoffDelay", "backoffUntil$", "pollBackoff", "repeatBackoff", "retryBackoff"]),
  );
});
