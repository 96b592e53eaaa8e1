import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Snapshot } from "../snapshot.ts";

/** Age of a full bar in milliseconds. */
const LONG = 5_000;

/** Maximum number of failing keys shown. */
const MOST = 8;

/** The leader's queue: a bar per key in progress, and the failing keys. */
export function queueSection({ queue, inFlight, failing }: Snapshot, now: number): TemplateResult {
  const bars = inFlight.map(
    ({ key, age, attempt }) => html`<li>
      <code>${key}</code>
      <progress max=${LONG} value=${Math.min(age, LONG)} aria-label=${`${key} in progress`}></progress>
      <small>${formatDuration(age)}${attempt > 1 ? `, attempt ${attempt}` : ""}</small>
    </li>`,
  );
  const rows = failing.slice(0, MOST).map(({ key, attempt, error, due }) => {
    const wait = due - now;
    return html`<li>
      <code>${key}</code>
      <span class="attempts" aria-hidden="true">${"▮".repeat(Math.min(attempt, 12))}</span>
      <small>
        attempt ${attempt} failed, ${wait > 0 ? `retry in ${formatDuration(wait)}` : "retry due"}: ${error}
      </small>
    </li>`;
  });
  const more = failing.length - rows.length;
  return html`<section class="queue">
    <h2>Queue of the leader, in records</h2>
    <p>
      <span class="fact">queued <b>${queue.size}</b></span>
      <span class="fact">delayed <b>${queue.delayed}</b></span>
      <span class="fact">in progress <b>${inFlight.length}</b></span>
      <span class="fact">failing <b>${failing.length}</b></span>
    </p>
    <div class="keys">
      <ul aria-label="In progress">${bars}</ul>
      <ul aria-label="Failing keys">${rows}${more > 0 ? html`<li><small>and ${more} more</small></li>` : nothing}</ul>
    </div>
    ${bars.length + rows.length === 0 ? html`<p class="empty">No record is in progress, and none fails.</p>` : nothing}
  </section>`;
}
