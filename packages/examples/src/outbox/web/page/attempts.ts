import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Snapshot } from "../snapshot.ts";
import { ladder } from "./ladder.ts";

type Next = Snapshot["next"][number];

/** Tenths of a second: finer than an eye can follow. */
function countdown(at: number, now: number): string {
  const tenths = Math.ceil((at - now) / 100);
  if (tenths <= 0) return "due";
  return tenths < 100 ? `in ${(tenths / 10).toFixed(1)}s` : `in ${formatDuration(tenths * 100)}`;
}

function line({ order, failures, at, error }: Next, now: number): TemplateResult {
  return html`<li>
    <b>${countdown(at, now)}</b>
    <span>order ${order}, attempt ${failures + 1}</span>
    <small title=${error ?? ""}>${error ?? "first attempt"}</small>
  </li>`;
}

/** The messages that wait: the rungs they stand on, and the next attempts. */
export function attempts({ ladder: rungs, next }: Snapshot, now: number): TemplateResult {
  return html`<section class="attempts">
    <div>
      <h2>Ladder <small>messages that wait, by failed attempts; the height is the wait</small></h2>
      ${ladder(rungs)}
    </div>
    <div class="next">
      <h2>Next attempts</h2>
      <ol aria-label="Next attempts">
        ${next.map((each) => line(each, now))}
      </ol>
      ${next.length === 0 ? html`<p class="none">No waiting messages.</p>` : nothing}
    </div>
  </section>`;
}
