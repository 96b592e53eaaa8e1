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

/** How many messages there are of each kind, and how far the orders have got. */
export function counts({ orders, messages, received }: Snapshot): TemplateResult {
  const { total, placed } = orders;
  const { pending, due, retrying, delivered, dead } = messages;
  return html`<section class="counts" aria-label="Messages">
    <dl>
      ${figure("pending", pending, "no attempt has failed", "info")}
      ${figure("due", due, "to be claimed now", "info")}
      ${figure("retrying", retrying, "wait for another attempt", "warn")}
      ${figure("dead", dead, "given up until a replay", "bad")}
      ${figure("delivered", delivered, "confirmed", "good")}
    </dl>
    <div class="orders">
      <progress max=${total} .value=${placed} aria-label="Orders placed"></progress>
      <span class="fact"><b>${placed}</b> of ${total} orders placed</span>
      <span class="fact">attempts <b>${received.attempts}</b></span>
      <span class="fact">duplicates <b>${received.duplicates}</b></span>
      <span class="fact">in flight <b>${received.open}</b></span>
    </div>
  </section>`;
}
