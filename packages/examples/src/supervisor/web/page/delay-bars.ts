import { html, svg, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { ProcessSnapshot } from "../snapshot.ts";
import { describeWait } from "./describe-wait.ts";

type Wait = ProcessSnapshot["waits"][number];

const BAR = 9;
const GAP = 3;
/** How much narrower the filling is than its frame, on each side. */
const INSET = 2;
const HEIGHT = 36;
/** A process keeps this many waits. */
const WAITS = 10;

/** How long a wait has lasted so far, or did. */
function lasted({ planned, measured }: Wait, { nextStart }: ProcessSnapshot, now: number): number {
  if (measured !== undefined) return measured;
  return nextStart === undefined ? 0 : Math.min(Math.max(planned - (nextStart - now), 0), planned);
}

/**
 * The latest delays of a process as bars, the newest on the right. The frame is the planned delay, the fill is
 * the elapsed time, and the dashes are the cap.
 */
export function delayBars(process: ProcessSnapshot, now: number): TemplateResult {
  const { waits, cap } = process;
  const most = Math.max(cap, ...waits.flatMap(({ planned, measured = 0 }) => [planned, measured]));
  const heightOf = (wait: number): number => Math.max((wait / most) * HEIGHT, 1);
  const bars = waits.map((wait, index) => {
    const x = index * (BAR + GAP);
    const frame = heightOf(wait.planned);
    const fill = heightOf(lasted(wait, process, now));
    const state = wait.measured === undefined ? "under-way" : "over";
    return svg`<g class=${state}>
      <title>${describeWait(wait)}</title>
      <rect class="planned" x=${x} y=${HEIGHT - frame} width=${BAR} height=${frame} rx="1" />
      <rect class="measured" x=${x + INSET} y=${HEIGHT - fill} width=${BAR - 2 * INSET} height=${fill} />
    </g>`;
  });
  const width = WAITS * (BAR + GAP) - GAP;
  const capAt = HEIGHT - heightOf(cap);
  const limit = `at most ${formatDuration(cap)}`;
  const label = `Waits, the newest last: ${waits.map(describeWait).join("; ")}; ${limit}`;
  return html`<svg
    class="delays"
    viewBox=${`0 -1 ${width} ${HEIGHT + 1}`}
    width=${width}
    height=${HEIGHT + 1}
    role="img"
    aria-label=${label}
  >
    <line class="cap" x1="0" x2=${width} y1=${capAt} y2=${capAt}><title>${limit}</title></line>
    ${bars}
  </svg>`;
}
