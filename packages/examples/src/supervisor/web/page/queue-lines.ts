import { html, type TemplateResult } from "lit-html";
import type { QueueSnapshot } from "../snapshot.ts";
import { type Sample, WINDOW } from "./queue-history.ts";

const WIDTH = 240;
const HEIGHT = 26;

const LINES: readonly { readonly what: keyof QueueSnapshot; readonly label: string }[] = [
  { what: "size", label: "due" },
  { what: "delayed", label: "delayed" },
  { what: "inFlight", label: "in flight" },
];

/** A line with steps: a queue changes at once, and stays until it changes again. */
function pathOf(points: readonly (readonly [number, number])[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return "";
  const steps = rest.map(([x, y]) => `H${x.toFixed(1)}V${y.toFixed(1)}`);
  return `M${first[0].toFixed(1)} ${first[1].toFixed(1)}${steps.join("")}H${WIDTH}`;
}

/** How much there was to do in the last minute, now on the right. */
export function queueLines(samples: readonly Sample[], now: number): TemplateResult {
  const latest = samples.at(-1)?.queue;
  // One scale for all three, so that they compare.
  const most = Math.max(4, ...samples.flatMap(({ queue }) => LINES.map(({ what }) => queue[what])));
  const xOf = (at: number): number => Math.max(WIDTH * (1 - (now - at) / WINDOW), 0);
  const yOf = (count: number): number => HEIGHT - 1 - (count / most) * (HEIGHT - 2);
  const rows = LINES.map(({ what, label }) => {
    const points = samples.map(({ at, queue }) => [xOf(at), yOf(queue[what])] as const);
    return html`<div class="line">
      <dt>${label}</dt>
      <dd>
        <b>${latest?.[what] ?? "–"}</b>
        <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
          <path d=${pathOf(points)} />
        </svg>
      </dd>
    </div>`;
  });
  return html`<section class="queue">
    <h2>Queue <small>last minute</small></h2>
    <dl>${rows}</dl>
  </section>`;
}
