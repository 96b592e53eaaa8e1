import { html, type TemplateResult } from "lit-html";
import type { Snapshot } from "../snapshot.ts";

function figure(name: string, count: number, meaning: string, tone = ""): TemplateResult {
  return html`<div class="figure" data-tone=${count === 0 ? "" : tone}>
    <dt>${name}</dt>
    <dd>
      <b>${count}</b>
      <small>${meaning}</small>
    </dd>
  </div>`;
}

/** How many messages have each status, and how far the run has got. */
export function counts({ orders, messages, received }: Snapshot): TemplateResult {
  const { total, placed } = orders;
  const { pending, retrying, delivered, dead } = messages;
  return html`<section class="counts" aria-label="Messages">
    <dl>
      ${figure("pending", pending, "not sent yet", "info")}
      ${figure("retrying", retrying, "failed, to be sent again", "warn")}
      ${figure("dead", dead, "given up until a replay", "bad")}
      ${figure("delivered", delivered, "confirmed by the receiver", "good")}
    </dl>
    <div class="orders">
      <progress max=${total} .value=${delivered} aria-label="Messages delivered"></progress>
      <span class="fact">delivered <b>${delivered}</b> of ${total}</span>
      <span class="fact">orders placed <b>${placed}</b></span>
      <span class="fact">requests received <b>${received.attempts}</b></span>
      <span class="fact">repeated <b>${received.duplicates}</b></span>
      <span class="fact">in progress <b>${received.open}</b></span>
    </div>
  </section>`;
}
