import { expect, it } from "vitest";
import { formatDuration, formatElapsed, parseDuration } from "../../src/terminal/duration.ts";

it.each([
  { text: "500ms", want: 500 },
  { text: "2s", want: 2_000 },
  { text: "1.5h", want: 5_400_000 },
  { text: "1m30s", want: 90_000 },
  { text: "0s", want: 0 },
  { text: "", want: undefined },
  { text: "5", want: undefined },
  { text: "-1s", want: undefined },
  { text: "1 s", want: undefined },
  { text: "2 days", want: undefined },
  { text: "1s30", want: undefined },
])("reads $text as $want", ({ text, want }) => {
  expect(parseDuration(text)).toBe(want);
});

it.each([
  { duration: 0, want: "0ms" },
  { duration: 999.4, want: "999ms" },
  { duration: 999.5, want: "1s" },
  { duration: 2_040, want: "2.04s" },
  { duration: 9_994, want: "9.99s" },
  { duration: 9_995, want: "10s" },
  { duration: 59_499, want: "59s" },
  { duration: 59_500, want: "1m00s" },
  { duration: 250_000, want: "4m10s" },
  { duration: 7_500_000, want: "2h05m" },
])("writes $duration ms as $want", ({ duration, want }) => {
  expect(formatDuration(duration)).toBe(want);
});

it.each([
  { elapsed: 0, want: "00:00.000" },
  { elapsed: 3_214.9, want: "00:03.214" },
  { elapsed: 754_007, want: "12:34.007" },
  { elapsed: 93_603_214, want: "26:00:03.214" },
])("stamps $elapsed ms as $want", ({ elapsed, want }) => {
  expect(formatElapsed(elapsed)).toBe(want);
});
