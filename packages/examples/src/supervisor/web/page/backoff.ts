import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { ProcessSnapshot } from "../snapshot.ts";
import { delayBars } from "./delay-bars.ts";
import { describeWait } from "./describe-wait.ts";

/** Tenths below ten seconds and whole seconds above: as fine as an eye can follow. */
function countdown(remaining: number): string {
  const tenths = Math.ceil(remaining / 100);
  if (tenths === 0) return "starts now";
  const text = tenths < 100 ? `${(tenths / 10).toFixed(1)}s` : formatDuration(tenths * 100);
  return `starts in ${text}`;
}

function nextStart({ nextStart: at, waits }: ProcessSnapshot, now: number) {
  if (at === undefined) return nothing;
  const planned = waits.at(-1)?.planned ?? 0;
  const remaining = Math.min(Math.max(at - now, 0), planned);
  // The bar says nothing that the words before it do not.
  return html`<div class="next-start">
    <b>${countdown(remaining)}</b>
    <progress max=${planned} .value=${planned - remaining} aria-hidden="true"></progress>
  </div>`;
}

/** How long a process has waited before its starts, and for how long it still has to. */
export function backoff(process: ProcessSnapshot, now: number): TemplateResult | typeof nothing {
  const last = process.waits.at(-1);
  if (last === undefined) return nothing;
  return html`<div class="waits">
    ${delayBars(process, now)}
    <div>
      <small>${describeWait(last)}</small>
      ${nextStart(process, now)}
    </div>
  </div>`;
}
