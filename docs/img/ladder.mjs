// Draws ladder.svg: the delays of one Backoff, as the class itself gives them.
// draw.mjs writes it.

const shape = { duration: 100, factor: 2, cap: 2_000, jitter: 0.5 };
const count = 8;

const width = 760;
const height = 384;
const left = 64;
const right = 736;
const floor = 276;
const ceiling = 86;
const line = 330;

const style = `
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font: 13px system-ui, -apple-system, "Segoe UI", sans-serif }
  .code { font-family: ui-monospace, "SF Mono", Menlo, monospace; font-size: 12.5px }
  .quiet { fill: #59636e }
  .grid { stroke: #d8dee4 }
  .cap { stroke: #b35900; stroke-dasharray: 5 4 }
  .base { fill: #0969da }
  .spread { fill: #0969da; fill-opacity: 0.22 }
  .draw { fill: #b35900; stroke: #ffffff; stroke-width: 1.5 }
  .wait { stroke: #0969da; stroke-width: 3 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .grid { stroke: #2a313c }
    .cap { stroke: #f0a45d }
    .base { fill: #4493f8 }
    .spread { fill: #4493f8; fill-opacity: 0.3 }
    .draw { fill: #f0a45d; stroke: #0d1117 }
    .wait { stroke: #4493f8 }
  }`;

/**
 * @param {typeof import("../../packages/wait/src/index.ts")} wait the package, built or from its sources
 * @returns {string} the picture
 */
export function ladder({ Backoff, seededRandom }) {
  const delays = (change) => {
    const backoff = new Backoff({ ...shape, ...change });
    return Array.from({ length: count }, () => backoff.step());
  };
  const base = delays({ jitter: 0 });
  const most = delays({ random: () => 1 - 2 ** -32 });
  const drawn = delays({ random: seededRandom(8) });
  const highest = Math.max(...most);
  const y = (delay) => round(floor - (delay / highest) * (floor - ceiling));
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">Delays of a Backoff: they double from ${shape.duration} ms until the cap of ${shape.cap} ms, and jitter adds up to ${shape.jitter * 100} %</title>`,
    `<style>${style}\n</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<text class="code" x="24" y="32">new Backoff({ duration: ${shape.duration}, factor: ${shape.factor}, cap: ${shape.cap}, jitter: ${shape.jitter} })</text>`,
    ...legend(),
    ...rungs(base, most, drawn, y),
    ...timeLine(drawn),
    "</svg>",
  ].join("\n")}\n`;
}

function legend() {
  return [
    `<rect class="base" x="24" y="47" width="12" height="12"/><text class="quiet" x="42" y="58">base delay</text>`,
    `<rect class="spread" x="126" y="47" width="12" height="12"/><text class="quiet" x="144" y="58">what jitter may add</text>`,
    `<circle class="draw" cx="290" cy="53" r="5"/><text class="quiet" x="301" y="58">one run, seededRandom(8)</text>`,
  ];
}

function rungs(base, most, drawn, y) {
  const gap = (right - left) / count;
  const bar = gap * 0.6;
  const grid = [500, 1_000, 1_500, 2_000, 2_500, 3_000].map(
    (delay) =>
      `<line class="${delay === shape.cap ? "cap" : "grid"}" x1="${left}" y1="${y(delay)}" x2="${right}" y2="${y(delay)}"/>` +
      `<text class="quiet" x="${left - 8}" y="${y(delay) + 4}" text-anchor="end">${delay === shape.cap ? "cap" : delay}</text>`,
  );
  const bars = base.map((delay, n) => {
    const x = round(left + n * gap + (gap - bar) / 2);
    const middle = round(x + bar / 2);
    return (
      `<rect class="spread" x="${x}" y="${y(most[n])}" width="${round(bar)}" height="${round(y(delay) - y(most[n]))}"/>` +
      `<rect class="base" x="${x}" y="${y(delay)}" width="${round(bar)}" height="${round(floor - y(delay))}"/>` +
      `<circle class="draw" cx="${middle}" cy="${y(drawn[n])}" r="5"/>` +
      `<text class="quiet" x="${middle}" y="${floor + 18}" text-anchor="middle">${delay} ms</text>`
    );
  });
  return [
    ...grid,
    `<line class="grid" x1="${left}" y1="${floor}" x2="${right}" y2="${floor}"/>`,
    ...bars,
  ];
}

/** The calls of a loop that takes no time itself, on one line to scale. */
function timeLine(drawn) {
  const calls = [0];
  for (const delay of drawn) calls.push((calls.at(-1) ?? 0) + delay);
  const end = calls.at(-1) ?? 0;
  const x = (instant) => round(left + (instant / end) * (right - left));
  return [
    `<line class="wait" x1="${left}" y1="${line}" x2="${right}" y2="${line}"/>`,
    ...calls.map((instant) => `<circle class="draw" cx="${x(instant)}" cy="${line}" r="6"/>`),
    `<text class="quiet" x="${left}" y="${line + 28}">the calls of that run, to scale: the first at 0, the last at ${(end / 1000).toFixed(1)} s</text>`,
  ];
}

function round(value) {
  return Math.round(value * 10) / 10;
}
