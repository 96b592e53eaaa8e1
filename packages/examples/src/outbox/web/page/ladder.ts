import { html, svg, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { LadderRung } from "../snapshot.ts";

const STEP = 40;
const BAR = 28;
const HEIGHT = 90;
/** Room for the count above a bar, and for the number below it. */
const ABOVE = 14;
const BELOW = 16;

function rung({ failures, wait, count }: LadderRung, index: number, longest: number) {
  const height = Math.max((wait / longest) * HEIGHT, 2);
  const x = index * STEP + (STEP - BAR) / 2;
  const y = ABOVE + HEIGHT - height;
  const middle = index * STEP + STEP / 2;
  const name =
    failures === 0 ? "no failure" : `${failures} ${failures === 1 ? "failure" : "failures"}`;
  return svg`<g class=${count === 0 ? "empty-rung" : "rung"}>
    <title>${name}: ${count} wait, ${formatDuration(wait)} each</title>
    <rect x=${x} y=${y} width=${BAR} height=${height} rx="2" />
    <text class="count" x=${middle} y=${y - 4}>${count === 0 ? "" : count}</text>
    <text x=${middle} y=${ABOVE + HEIGHT + BELOW - 4}>${failures}</text>
  </g>`;
}

/**
 * The rungs that messages climb: a bar for each number of failures, as high as the wait that follows
 * it, with the number of messages that wait there.
 */
export function ladder(rungs: readonly LadderRung[]): TemplateResult {
  const longest = Math.max(1, ...rungs.map(({ wait }) => wait));
  const width = Math.max(rungs.length, 1) * STEP;
  const height = ABOVE + HEIGHT + BELOW;
  const told = rungs
    .filter(({ count }) => count > 0)
    .map(({ failures, count, wait }) => `${count} after ${failures}, ${formatDuration(wait)} each`);
  const label = `Waiting messages by failures: ${told.join("; ") || "none"}`;
  return html`<svg
    class="rungs"
    viewBox=${`0 0 ${width} ${height}`}
    width=${width}
    height=${height}
    role="img"
    aria-label=${label}
  >
    ${rungs.map((each, index) => rung(each, index, longest))}
  </svg>`;
}
