import { type ScaleLinear, scaleLinear } from "d3-scale";
import { type Frame, pen } from "../picture/pen.ts";
import type { Interval } from "./load.ts";
import { count, seconds } from "./report.ts";
import type { Outcome } from "./server.ts";
import type { Measurement, Scenario } from "./simulate.ts";

/** The last instant that is shown, in milliseconds from the return of the server. */
const TO = 40_000;

/** Calls in an interval: the marks of the scale, and where higher bars are cut. */
const LOADS = [0, 50, 100, 150];
const MOST = 150;

/** The outcomes of a call, from the bottom of a bar to its top, and how each is drawn. */
export const LAYERS: readonly { outcome: Outcome; classes: string; words: string }[] = [
  { outcome: "accepted", classes: "blue", words: "served" },
  { outcome: "refused", classes: "orange", words: "refused: server busy" },
  { outcome: "down", classes: "grey", words: "refused: server down" },
];

function xOf({ outage }: Scenario, { left, right }: Frame): ScaleLinear<number, number> {
  return scaleLinear([-outage, TO], [left, right]);
}

function yOf({ top, bottom }: Frame): (calls: number) => number {
  return scaleLinear([0, MOST], [bottom, top]).clamp(true);
}

/** Draws the load on the server over time. */
export function panel(load: Measurement, scenario: Scenario, frame: Frame): string[] {
  return [
    ...scale(frame),
    ...LAYERS.map(({ classes }, layer) => pen.bars(bars(load, scenario, frame, layer), classes)),
    ...capacity(scenario, frame),
    ...remarks(load, frame),
  ];
}

/** Writes the time under a panel. */
export function timeAxis(scenario: Scenario, frame: Frame): string[] {
  const x = xOf(scenario, frame);
  return x
    .ticks(6)
    .map((instant) =>
      pen.text(`${instant / 1_000}`, [x(instant), frame.bottom + 18], "quiet middle"),
    );
}

function scale(frame: Frame): string[] {
  const y = yOf(frame);
  return LOADS.flatMap((load) => [
    pen.line([frame.left, y(load)], [frame.right, y(load)], "grid"),
    pen.text(`${load}`, [frame.left - 6, y(load) + 4], "quiet end"),
  ]);
}

/** The bars of one layer, which stand on those of the layers below. */
function bars(load: Measurement, scenario: Scenario, frame: Frame, layer: number): Frame[] {
  const { interval, outage } = scenario;
  const [x, y] = [xOf(scenario, frame), yOf(frame)];
  const height = (calls: Interval, layers: number): number =>
    LAYERS.slice(0, layers).reduce((sum, { outcome }) => sum + calls[outcome], 0);
  return load.intervals
    .slice(0, (outage + TO) / interval)
    .map((calls, index) => ({
      left: x(index * interval - outage),
      right: x((index + 1) * interval - outage),
      top: y(height(calls, layer + 1)),
      bottom: y(height(calls, layer)),
    }))
    .filter(({ top, bottom }) => top < bottom);
}

/** The most that the server could serve, and the instant from which on it does. */
function capacity(scenario: Scenario, frame: Frame): string[] {
  const { workers, service, interval } = scenario;
  const [x, y] = [xOf(scenario, frame), yOf(frame)];
  const most = y((workers * interval) / service);
  return [
    pen.line([x(0), most], [frame.right, most], "limit"),
    pen.line([x(0), frame.top], [x(0), frame.bottom], "limit"),
  ];
}

/** Notes on cut bars and on events beyond the time axis. */
function remarks({ peak, lastServed }: Measurement, frame: Frame): string[] {
  const cut = peak > MOST ? [`up to ${count(peak)}`] : [];
  const later = lastServed > TO ? [`until ${seconds(lastServed)} →`] : [];
  const words = [...cut, ...later].join(", ");
  return words === "" ? [] : [pen.text(words, [frame.right, frame.top - 8], "quiet end")];
}
