import { scaleLinear } from "d3-scale";
import { type Frame, pen } from "../picture/pen.ts";
import { picture } from "../picture/picture.ts";
import { formatDuration } from "../terminal/duration.ts";
import { DIES, ENDS, JOINS, moves, SLOTS, type Span } from "./moves.ts";

const WIDTH = 760;
const ROW = 26;
const FRAME: Frame = { left: 72, right: 722, top: 84, bottom: 84 + SLOTS * ROW };
const COLOURS = { a: "blue", b: "orange" } as const;

/** Draws who holds each slot over time. */
export async function movesPicture(seed: number): Promise<string> {
  const spans = await moves(seed);
  const x = scaleLinear([0, ENDS], [FRAME.left, FRAME.right]);
  const back = Math.min(
    ...spans.filter(({ holder, from }) => holder === "b" && from > DIES).map(({ from }) => from),
  );
  const frameOf = ({ slot, from, to }: Span): Frame => ({
    left: x(from),
    right: x(to),
    top: FRAME.top + slot * ROW + 4,
    bottom: FRAME.top + (slot + 1) * ROW - 4,
  });
  const barsOf = (holder: Span["holder"], isGiving: boolean): string =>
    pen.bars(
      spans.filter((span) => span.holder === holder && span.isGiving === isGiving).map(frameOf),
      isGiving ? `${COLOURS[holder]} band` : COLOURS[holder],
    );
  const event = (instant: number, words: string): string[] => [
    pen.path(`M${x(instant)} ${FRAME.top - 6}V${FRAME.bottom + 4}`, "ink line dashed"),
    pen.text(words, [x(instant), FRAME.top - 14], "middle"),
  ];
  return picture({
    width: WIDTH,
    height: FRAME.bottom + 40,
    title: `Replica a holds ${SLOTS} slots. From ${formatDuration(JOINS)} on b asks for its share, and a gives up one slot after another when the keys in flight are done. a is killed at ${formatDuration(DIES)}: its slots are free until ${formatDuration(back)}, when its leases have run out, and b takes them`,
    elements: [
      ...legend(),
      ...Array.from({ length: SLOTS }, (_, slot) =>
        pen.text(
          `slot ${slot}`,
          [FRAME.left - 10, FRAME.top + (slot + 0.5) * ROW + 4],
          "quiet end",
        ),
      ),
      ...x
        .ticks(8)
        .map((tick) =>
          pen.text(formatDuration(tick), [x(tick), FRAME.bottom + 24], "quiet middle"),
        ),
      barsOf("a", false),
      barsOf("a", true),
      barsOf("b", false),
      ...event(JOINS, "b joins"),
      ...event(DIES, "a is killed"),
    ],
  });
}

function legend(): string[] {
  const y = 34;
  const entries = [
    ["blue", "held by a"],
    ["blue band", "given up by a: its keys in flight end"],
    ["orange", "held by b"],
  ] as const;
  const lefts = [24, 120, 390];
  return entries.flatMap(([classes, words], index) => {
    const left = lefts[index] ?? 0;
    return [
      pen.bars([{ left, right: left + 12, top: y - 10, bottom: y + 2 }], classes),
      pen.text(words, [left + 18, y], "quiet"),
    ];
  });
}
