import { type Frame, type Point, pen } from "../picture/pen.ts";
import { NARROW, picture, WIDE } from "../picture/picture.ts";
import type { Run } from "./compare-forms.ts";
import { type Form, growth } from "./forms.ts";
import { LAYERS, panel, timeAxis } from "./panel.ts";
import { count, seconds } from "./report.ts";
import type { Measurement, Scenario } from "./simulate.ts";

/** Draws each form of jitter, and all of them below each other; by names of files. */
export function pictures(runs: readonly Run[], outage: Scenario): Map<string, string> {
  return new Map([
    ["herd.svg", overview(runs, outage)],
    ["herd-summary.svg", summary(runs, outage)],
    ...runs.map((run) => [`herd-${run.form.name}.svg`, pictureOf(run, outage)] as const),
  ]);
}

/** The outage in words, a line each. */
function setting({ clients, outage, workers, service, interval }: Scenario): string[] {
  return [
    `${count(clients)} clients lose a server at once. After ${outage / 1_000} s it is back and serves ${workers} calls at a time, ${service} ms each.`,
    `b doubles with each call that is refused, from ${growth.duration} ms up to ${growth.cap / 1_000} s.`,
    `Calls in ${interval} ms, over seconds from the return of the server. Dotted: as many as it can serve.`,
  ];
}

/** Where the entries of the legend begin; in a narrow picture the last one has a line of its own. */
const ENTRIES = [24, 124, 304];

function legend(top: number, isNarrow = false): string[] {
  return LAYERS.flatMap(({ classes, words }, index) => {
    const [left, y] = isNarrow && index === 2 ? [24, top + 20] : [ENTRIES[index] ?? 0, top];
    const box = { left, right: left + 12, top: y - 10, bottom: y + 2 };
    return [pen.bars([box], classes), pen.text(words, [left + 18, y], "quiet")];
  });
}

function figures({ peak, calls, lastServed }: Measurement): string[] {
  return [count(peak), count(calls), seconds(lastServed)];
}

/** Where the figures beside a panel end. */
const FIGURES = [
  { words: "peak", right: 592 },
  { words: "calls", right: 656 },
  { words: "last served", right: 738 },
];

function overview(runs: readonly Run[], outage: Scenario): string {
  const top = 176;
  const row = 104;
  const rows = runs.map((run, index) => {
    const above = top + index * row;
    return { ...run, frame: { left: 52, right: 530, top: above, bottom: above + 64 } };
  });
  return picture({
    width: WIDE,
    height: top + runs.length * row,
    title: `Load on a server that comes back to ${count(outage.clients)} clients, for ${runs.length} forms of jitter`,
    elements: [
      pen.text("An outage ends, and every client returns", [24, 32], "name"),
      ...setting(outage).map((words, line) => pen.text(words, [24, 56 + line * 20], "quiet")),
      ...legend(128),
      ...FIGURES.map(({ words, right }) => pen.text(words, [right, 128], "quiet end")),
      ...rows.flatMap((run) => overviewRow(run, run.frame, outage)),
      ...rows.slice(-1).flatMap(({ frame }) => timeAxis(outage, frame)),
    ],
  });
}

function overviewRow({ form, load }: Run, frame: Frame, outage: Scenario): string[] {
  const values = figures(load);
  return [
    titleOf(form, [frame.left, frame.top - 8]),
    ...panel(load, outage, frame),
    ...FIGURES.map(({ right }, index) =>
      pen.text(values[index] ?? "", [right, frame.bottom - 26], "name end"),
    ),
  ];
}

/** The two ends of the comparison, narrow enough for a phone. */
function summary(runs: readonly Run[], outage: Scenario): string {
  const rows = runs
    .filter(({ form }) => ["none", "full"].includes(form.name))
    .map((run, index) => ({
      ...run,
      frame: { left: 40, right: 364, top: 132 + index * 148, bottom: 212 + index * 148 },
    }));
  const down = outage.outage / 1_000;
  return picture({
    width: 380,
    height: 424,
    title: `Calls to a server that ${count(outage.clients)} clients lost for ${down} s, without jitter and with full jitter`,
    elements: [
      pen.text(
        `${count(outage.clients)} clients retry after an outage of ${down} s`,
        [16, 28],
        "name",
      ),
      pen.text(
        `Calls per ${outage.interval} ms, around the return of the server.`,
        [16, 50],
        "quiet",
      ),
      pen.text("Blue: served. Orange: refused. Grey: server down.", [16, 70], "quiet"),
      ...rows.flatMap(({ form, load, frame }) => summaryRow(form, load, frame, outage)),
      pen.text("seconds after the server is back", [364, 408], "quiet end"),
    ],
  });
}

function summaryRow(form: Form, load: Measurement, frame: Frame, outage: Scenario): string[] {
  return [
    pen.text(
      `${form.name === "full" ? "Full" : "No"} jitter: all served after ${seconds(load.lastServed)}`,
      [16, frame.top - 28],
      "name",
    ),
    ...panel(load, outage, frame),
    ...timeAxis(outage, frame),
  ];
}

/** Draws one form of jitter. */
export function pictureOf({ form, load }: Run, outage: Scenario, width = WIDE): string {
  const isNarrow = width <= NARROW;
  const top = isNarrow ? 176 : 116;
  const frame = { left: 52, right: width - 24, top, bottom: top + 160 };
  const [peak, calls, lastServed] = figures(load);
  const words = `At most ${peak} calls in ${outage.interval} ms. ${calls} calls until all were served, the last after ${lastServed}.`;
  const axis = `calls in ${outage.interval} ms, over seconds from the return of the server`;
  return picture({
    width,
    height: frame.bottom + (isNarrow ? 82 : 64),
    title: `Load on a server that comes back to ${count(outage.clients)} clients: ${form.title}`,
    elements: [
      ...(isNarrow
        ? [
            pen.text(form.title, [24, 32], "name"),
            pen.text(`delays ${form.range}`, [24, 54], "quiet"),
          ]
        : [titleOf(form, [24, 32])]),
      ...pen.lines(words, { ...frame, left: 24, top: isNarrow ? 80 : 56 }, "quiet"),
      ...legend(isNarrow ? 122 : 82, isNarrow),
      ...panel(load, outage, frame),
      ...timeAxis(outage, frame),
      ...pen.lines(axis, { ...frame, top: frame.bottom + 44 }, "quiet end"),
    ],
  });
}

function titleOf({ title, range }: Form, at: Point): string {
  return pen.text(`${title}<tspan class="quiet plain">; delays ${range}</tspan>`, at, "name");
}
