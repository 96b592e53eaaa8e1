import { type ScaleLinear, scaleLinear } from "d3-scale";
import { type Frame, pen } from "../picture/pen.ts";
import { picture } from "../picture/picture.ts";
import { formatDuration } from "../terminal/duration.ts";
import type { DelayRange } from "./delay-ranges.ts";

/** Delays, and their labels. */
export interface DelayPicture {
  /** The strategy, as code. */
  readonly code: string;
  readonly ranges: readonly DelayRange[];
  /** Delay at which growth ends, in milliseconds; `Infinity` for none. */
  readonly cap: number;
  readonly seed: number;
}

const WIDTH = 760;
const HEIGHT = 400;
const FRAME: Frame = { left: 64, right: 736, top: 86, bottom: 276 };
const TIME_LINE = 346;
/** Pixels that a character of the code takes at most. */
const CHARACTER = 7.6;

/** Draws each delay as a bar: solid as far as it is certain, light as far as it is random. */
export function delayPicture({ code, ranges, cap, seed }: DelayPicture): string {
  const highest = Math.max(...ranges.map(({ high }) => high));
  const y = scaleLinear([0, highest > 0 ? highest : 1], [FRAME.bottom, FRAME.top]);
  const lines = linesOf(code);
  const ends = [ranges[0]?.low ?? 0, ranges[0]?.high ?? 0, ranges.at(-1)?.low ?? 0, highest].map(
    formatDuration,
  );
  return picture({
    width: WIDTH,
    height: HEIGHT,
    title: `${ranges.length} delays of ${code}: the first from ${ends[0]} to ${ends[1]}, the last from ${ends[2]}, none above ${ends[3]}`,
    elements: [
      ...lines.map((words, line) => pen.text(words, [24, 30 + line * 17], "code")),
      ...legend(seed),
      ...scale(y, cap),
      ...bars(ranges, y),
      ...timeLine(ranges),
    ],
  });
}

/** Breaks code that is longer than the picture is wide before an option. */
function linesOf(code: string): string[] {
  const most = Math.floor((WIDTH - 48) / CHARACTER);
  if (code.length <= most) return [code];
  const at = code.lastIndexOf(" ", most);
  return [code.slice(0, at), `  ${code.slice(at + 1)}`];
}

function legend(seed: number): string[] {
  const y = 66;
  const box = (left: number): Frame => ({ left, right: left + 12, top: y - 10, bottom: y + 2 });
  return [
    pen.bars([box(24)], "blue"),
    pen.text("certain", [42, y], "quiet"),
    pen.bars([box(106)], "blue band"),
    pen.text("random", [124, y], "quiet"),
    pen.circle([192, y - 4], "orange dot"),
    pen.text(`one run, seededRandom(${seed})`, [204, y], "quiet"),
  ];
}

function scale(y: ScaleLinear<number, number>, cap: number): string[] {
  const isShown = cap <= (y.domain()[1] ?? 0);
  const ticks = y.ticks(5).filter((tick) => !isShown || Math.abs(y(tick) - y(cap)) > 12);
  return [
    ...ticks.flatMap((tick) => [
      pen.line([FRAME.left, y(tick)], [FRAME.right, y(tick)], "grid"),
      pen.text(formatDuration(tick), [FRAME.left - 8, y(tick) + 4], "quiet end"),
    ]),
    ...(isShown
      ? [
          pen.path(
            `M${FRAME.left} ${Math.round(y(cap) * 10) / 10}H${FRAME.right}`,
            "orange line dashed",
          ),
          pen.text("cap", [FRAME.left - 8, y(cap) + 4], "quiet end"),
        ]
      : []),
  ];
}

function bars(ranges: readonly DelayRange[], y: (delay: number) => number): string[] {
  const gap = (FRAME.right - FRAME.left) / ranges.length;
  const at = (index: number): number => FRAME.left + (index + 0.5) * gap;
  const bar = (index: number, from: number, to: number): Frame => ({
    left: at(index) - gap * 0.3,
    right: at(index) + gap * 0.3,
    top: y(to),
    bottom: y(from),
  });
  return [
    pen.bars(
      ranges.map(({ low, high }, index) => bar(index, low, high)),
      "blue band",
    ),
    pen.bars(
      ranges.map(({ low }, index) => bar(index, 0, low)),
      "blue",
    ),
    ...ranges.flatMap(({ low, high, drawn }, index) => {
      const [from, to] = [formatDuration(low), formatDuration(high)];
      return [
        pen.circle([at(index), y(drawn)], "orange dot"),
        pen.text(from, [at(index), FRAME.bottom + 18], "quiet middle"),
        ...(from === to
          ? []
          : [pen.text(`to ${to}`, [at(index), FRAME.bottom + 34], "quiet middle")]),
      ];
    }),
  ];
}

/** The calls of a loop that takes no time itself, to scale. */
function timeLine(ranges: readonly DelayRange[]): string[] {
  const calls = [0];
  for (const { drawn } of ranges) calls.push((calls.at(-1) ?? 0) + drawn);
  const end = calls.at(-1) ?? 0;
  const x = scaleLinear([0, end > 0 ? end : 1], [FRAME.left, FRAME.right]);
  return [
    pen.path(`M${FRAME.left} ${TIME_LINE}H${FRAME.right}`, "blue line"),
    ...calls.map((instant) => pen.circle([x(instant), TIME_LINE], "orange dot")),
    pen.text(
      `the calls of that run, to scale: the first at 0, the last at ${formatDuration(end)}`,
      [FRAME.left, TIME_LINE + 28],
      "quiet",
    ),
  ];
}
