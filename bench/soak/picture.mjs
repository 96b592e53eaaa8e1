import { pen } from "../../packages/examples/dist/picture/pen.js";
import { picture } from "../../packages/examples/dist/picture/picture.js";

const [LEFT, RIGHT, TOP, HEIGHT, GAP] = [70, 770, 96, 130, 56];
const CLASSES = ["blue", "orange"];
const MEMORY = {
  "RSS, MB": ({ rss }) => rss / 1e6,
  "live heap, MB": ({ heap }) => heap / 1e6,
};

/** Draws memory and other panels above one another, with the events of a run as lines through all of them. */
export function draw({ title, minutes, samples, events, panels }) {
  const x = (minute) => LEFT + (minute / minutes) * (RIGHT - LEFT);
  const all = [MEMORY, ...panels];
  const bottom = TOP + all.length * (HEIGHT + GAP) - GAP;
  const marks = events.flatMap(({ minute, name }, i) => [
    pen.path(`M${x(minute).toFixed(1)} ${TOP - 22}V${bottom}`, "ink line dashed"),
    pen.text(name, [x(minute), TOP - 28 - (i % 2) * 16], "quiet middle"),
  ]);
  const axis = ticks(minutes, 6)
    .filter((tick) => tick <= minutes)
    .map((tick) => pen.text(`${tick}`, [x(tick), bottom + 20], "quiet middle"));
  return picture({
    width: 800,
    height: bottom + 52,
    title,
    elements: [
      pen.text(title, [20, 28], "name"),
      ...marks,
      ...all.flatMap((lines, i) => panel(lines, { samples, x, top: TOP + i * (HEIGHT + GAP) })),
      ...axis,
      pen.text("minutes", [(LEFT + RIGHT) / 2, bottom + 40], "quiet middle"),
    ],
  });
}

function panel(lines, { samples, x, top }) {
  const scale = ticks(Math.max(...Object.values(lines).flatMap((of) => samples.map(of)), 1e-9), 4);
  const y = (value) => top + HEIGHT * (1 - value / scale.at(-1));
  const grid = scale.flatMap((tick) => [
    pen.line([LEFT, y(tick)], [RIGHT, y(tick)], "grid"),
    pen.text(tick.toLocaleString("en-US"), [LEFT - 6, y(tick) + 4], "quiet end"),
  ]);
  const drawn = Object.entries(lines).flatMap(([name, of], i) => {
    const points = samples.map((one) => `${x(one.minute).toFixed(1)} ${y(of(one)).toFixed(1)}`);
    return [
      pen.path(`M${points.join("L")}`, `${CLASSES[i]} line`),
      pen.text(name, [LEFT + 8 + i * 140, top - 6], CLASSES[i]),
    ];
  });
  return [...grid, ...drawn];
}

/** At most so many round steps from 0 on, to the largest value or above. */
function ticks(largest, count) {
  const power = 10 ** Math.floor(Math.log10(largest / count));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => largest / one <= count);
  const length = Math.ceil(largest / step) + 1;
  return Array.from({ length }, (_, i) => Number((i * step).toPrecision(6)));
}
