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
  const highest = Math.max(0, ...history);
  return html`<section class="drift">
    <h2>Provider <span class="chip" data-tone=${isWell ? "good" : "bad"}>${isWell ? "healthy" : faults.join(", ")}</span></h2>
    <p>
      <span class="fact">drift, records that differ <b class="now">${now}</b></span>
      <span class="fact">longest drift <b>${formatDuration(longest)}</b></span>
      <span class="fact">records in Kubernetes <b>${records}</b></span>
      <span class="fact">at the provider <b>${there}</b></span>
      <span class="fact">writes of former leaders refused <b>${refused}</b></span>
    </p>
    <figure>
      <figcaption>
        <span>drift in the last minute, at most ${highest}</span>
        <span>now</span>
      </figcaption>
      <svg viewBox=${`0 -2 ${WIDTH} ${HEIGHT + 4}`} preserveAspectRatio="none" role="img" aria-label=${`Drift in the last minute: now ${now}, at most ${highest}`}>
        ${svg`<polyline points=${line(history)} />`}
      </svg>
    </figure>
    <label>
      <span>requests to the provider in the last second: ${used} of ${rate} allowed</span>
      <progress max=${rate} value=${Math.min(used, rate)}></progress>
    </label>
  </section>`;
}
