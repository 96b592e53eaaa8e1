import { scaleLinear, scaleLog } from "d3-scale";
import { line } from "d3-shape";
import { type Frame, type Point, pen } from "../picture/pen.ts";

/** A share, from 0 to 1, for each number of stations. */
export interface Curve {
  readonly points: readonly { readonly stations: number; readonly share: number }[];
  readonly classes: string;
  /** Draws the points; without it there is only the line between them. */
  readonly mark?: (at: Point, classes: string) => string;
}

/** Curves over the number of stations. */
export interface Chart {
  readonly frame: Frame;
  readonly title: string;
  /** The numbers of stations that are written; the last one ends the scale. */
  readonly stations: readonly number[];
  readonly curves: readonly Curve[];
}

/** Draws curves one over the other, each number of stations as far from its double as any other. */
export function chart({ frame, title, stations, curves }: Chart): string[] {
  const { left, right, top, bottom } = frame;
  const x = scaleLog([1, stations.at(-1) ?? 1], [left, right]);
  const y = scaleLinear([0, 1], [bottom, top]);
  const path = line<Point>().digits(1);
  return [
    pen.text(title, [left, top - 14], "name"),
    ...y
      .ticks(4)
      .flatMap((share) => [
        pen.line([left, y(share)], [right, y(share)], "grid"),
        pen.text(`${share * 100} %`, [left - 6, y(share) + 4], "quiet end"),
      ]),
    ...stations.map((count) => pen.text(`${count}`, [x(count), bottom + 20], "quiet middle")),
    ...curves.flatMap(({ points, classes, mark }) => {
      const places = points.map(({ stations, share }): Point => [x(stations), y(share)]);
      const marks = mark === undefined ? [] : places.map((place) => mark(place, `${classes} dot`));
      return [pen.path(path(places) ?? "", `${classes} line`), ...marks];
    }),
  ];
}
