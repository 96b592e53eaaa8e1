import { linesOf } from "./lines-of.ts";

/** A point, in pixels. */
export type Point = readonly [x: number, y: number];

/** A place on a picture, in pixels. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function tenth(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

/** Pixels that a character of a text takes at most, and those between two lines. */
const CHARACTER = 6.6;
const LINE = 18;

/** Writes SVG elements. Classes are those of {@link picture}. */
export const pen = {
  /** @param words - text; may contain SVG elements */
  text(words: string, [x, y]: Point, classes: string): string {
    return `<text class="${classes}" x="${tenth(x)}" y="${tenth(y)}">${words}</text>`;
  },

  /** Breaks text between two sides. With the class `end` it ends at the right one. */
  lines(words: string, { left, right, top }: Omit<Frame, "bottom">, classes: string): string[] {
    const x = classes.includes("end") ? right : left;
    return linesOf(words, (right - left) / CHARACTER).map((line, index) =>
      pen.text(line, [x, top + index * LINE], classes),
    );
  },

  line([x1, y1]: Point, [x2, y2]: Point, classes: string): string {
    return `<line class="${classes}" x1="${tenth(x1)}" y1="${tenth(y1)}" x2="${tenth(x2)}" y2="${tenth(y2)}"/>`;
  },

  /** Draws rectangles of one colour as one element. */
  bars(frames: readonly Frame[], classes: string): string {
    const paths = frames.map(
      ({ left, right, top, bottom }) =>
        `M${tenth(left)} ${tenth(bottom)}V${tenth(top)}H${tenth(right)}V${tenth(bottom)}Z`,
    );
    return `<path class="${classes}" d="${paths.join("")}"/>`;
  },

  /** @param curve - the `d` of an SVG path */
  path(curve: string, classes: string): string {
    return `<path class="${classes}" d="${curve}"/>`;
  },

  circle([x, y]: Point, classes: string): string {
    return `<circle class="${classes}" cx="${tenth(x)}" cy="${tenth(y)}" r="4.5"/>`;
  },

  square([x, y]: Point, classes: string): string {
    return `<rect class="${classes}" x="${tenth(x - 4)}" y="${tenth(y - 4)}" width="8" height="8"/>`;
  },
};
