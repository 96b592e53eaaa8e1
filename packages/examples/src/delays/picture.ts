import { type ScaleLinear, scaleLinear } from "d3-scale";
import { linesOf } from "../picture/lines-of.ts";
import { type Frame, pen } from "../picture/pen.ts";
import { NARROW, picture, WIDE } from "../picture/picture.ts";
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
  /** Width in pixels: {@link WIDE} by default, or {@link NARROW}. */
  readonly width?: number;
}

/** Pixels that a character of the code takes at most, and those of the labels below a bar. */
const CHARACTER = 7.6;
const LABEL = 62;

/** Draws each delay as a bar: solid as far as it is certain, light as far as it is random. */
export function delayPicture({ code, ranges, cap, seed, width = WIDE }: DelayPicture): string {
  const highest = Math.max(...ranges.map(({ high }) => high));
  const lines = linesOf(code, (width - 48) / CHARACTER, "  ");
  const isNarrow = width <= NARROW;
  const [head, foot] = isNarrow ? [80, 142] : [52, 124];
  const top = head + 17 * Math.max(lines.length, 2);
  const frame = { left: 64, right: width - 24, top, bottom: top + 190 };
  const y = scaleLinear([0, highest > 0 ? highest : 1], [frame.bottom, frame.top]);
  const ends = [ranges[0]?.low ?? 0, ranges[0]?.high ?? 0, ranges.at(-1)?.low ?? 0, highest].map(
    formatDuration,
  );
  return picture({
    width,
    height: frame.bottom + foot,
    title: `${ranges.length} delays of ${code}: the first from ${ends[0]} to ${ends[1]}, the last from ${ends[2]}, none above ${ends[3]}`,
    elements: [
      ...lines.map((words, line) => pen.text(words, [24, 30 + line * 17], "code")),
      ...legend(seed, top - 20, isNarrow),
      ...scale(y, cap, frame),
      ...bars(ranges, y, frame),
      ...timeLine(ranges, frame),
    ],
  });
}

function legend(seed: number, last: number, isNarrow: boolean): string[] {
  const [y, run] = isNarrow ? [last - 20, 30] : [last, 192];
  const box = (left: number): Frame => ({ left, right: left + 12, top: y - 10, bottom: y + 2 });
  return [
    pen.bars([box(24)], "blue"),
    pen.text("certain", [42, y], "quiet"),
    pen.bars([box(106)], "blue band"),
    pen.text("random", [124, y], "quiet"),
    pen.circle([run, last - 4], "orange dot"),
    pen.text(`one run, seededRandom(${seed})`, [run + 12, last], "quiet"),
  ];
}

function scale(y: ScaleLinear<number, number>, cap: number, frame: Frame): string[] {
  const isShown = cap <= (y.domain()[1] ?? 0);
  const ticks = y.ticks(5).filter((tick) => !isShown || Math.abs(y(tick) - y(cap)) > 12);
  return [
    ...ticks.flatMap((tick) => [
      pen.line([frame.left, y(tick)], [frame.right, y(tick)], "grid"),
      pen.text(formatDuration(tick), [frame.left - 8, y(tick) + 4], "quiet end"),
    ]),
    ...(isShown
      ? [
          pen.path(
            `M${frame.left} ${Math.round(y(cap) * 10) / 10}H${frame.right}`,
            "orange line dashed",
          ),
          pen.text("cap", [frame.left - 8, y(cap) + 4], "quiet end"),
        ]
      : []),
  ];
}

function bars(ranges: readonly DelayRange[], y: (delay: number) => number, frame: Frame): string[] {
  const gap = (frame.right - frame.left) / ranges.length;
  const labelled = Math.ceil(LABEL / gap);
  const at = (index: number): number => frame.left + (index + 0.5) * gap;
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
      const dot = pen.circle([at(index), y(drawn)], "orange dot");
      if (index % labelled > 0) return [dot];
      return [
        dot,
        pen.text(from, [at(index), frame.bottom + 18], "quiet middle"),
        ...(from === to
          ? []
          : [pen.text(`to ${to}`, [at(index), frame.bottom + 34], "quiet middle")]),
      ];
    }),
  ];
}

/** The calls of a loop that takes no time itself, to scale. */
function timeLine(ranges: readonly DelayRange[], { left, right, bottom }: Frame): string[] {
  const calls = [0];
  for (const { drawn } of ranges) calls.push((calls.at(-1) ?? 0) + drawn);
  const end = calls.at(-1) ?? 0;
  const x = scaleLinear([0, end > 0 ? end : 1], [left, right]);
  const y = bottom + 70;
  const words = `the calls of that run, to scale: the first at 0, the last at ${formatDuration(end)}`;
  return [
    pen.path(`M${left} ${y}H${right}`, "blue line"),
    ...calls.map((instant) => pen.circle([x(instant), y], "orange dot")),
    ...pen.lines(words, { left, right, top: y + 28 }, "quiet"),
  ];
}
