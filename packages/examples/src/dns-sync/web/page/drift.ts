import { html, svg, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Snapshot } from "../snapshot.ts";

const WIDTH = 480;
const HEIGHT = 80;
const SAMPLES = 240;

function line(history: readonly number[]): string {
  const highest = Math.max(1, ...history);
  const offset = SAMPLES - history.length;
  return history
    .map((count, index) => {
      const x = ((offset + index) / (SAMPLES - 1)) * WIDTH;
      const y = HEIGHT - (count / highest) * HEIGHT;
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(" ");
}

/** The provider: its faults, its quota, and its differences from the records. */
export function driftSection({ drift, provider, records }: Snapshot): TemplateResult {
  const { now, history, longest } = drift;
  const { used, rate, faults, refused, records: there } = provider;
  const isWell = faults.length === 0;
  return html`<section class="drift">
    <h2>Operator and provider</h2>
    <p>
      <span class="fact">drift <b class="now">${now}</b></span>
      <span class="fact">longest <b>${formatDuration(longest)}</b></span>
      <span class="fact">records <b>${records}</b></span>
      <span class="fact">at the provider <b>${there}</b></span>
      <span class="fact">refused as stale <b>${refused}</b></span>
      <span class="chip" data-tone=${isWell ? "good" : "bad"}>${isWell ? "healthy" : faults.join(", ")}</span>
    </p>
    <svg viewBox=${`0 -2 ${WIDTH} ${HEIGHT + 4}`} role="img" aria-label=${`Drift in the last minute: now ${now}, at most ${Math.max(0, ...history)}`}>
      ${svg`<polyline points=${line(history)} />`}
    </svg>
    <label>
      <span>requests in the last second: ${used} of ${rate}</span>
      <progress max=${rate} value=${Math.min(used, rate)}></progress>
    </label>
  </section>`;
}
