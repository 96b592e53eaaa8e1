import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { NaiveSnapshot } from "../snapshot.ts";

/** The lane without a controller: the official client's informer, a handler, a retry loop. */
export function naiveLane(naive: NaiveSnapshot | undefined): TemplateResult {
  if (naive === undefined) return html``;
  const { state, after, reason, drift, overlaps, events, errors } = naive;
  const isDead = state === "dead";
  return html`<section class="naive" data-state=${state}>
    <h2>Baseline <small>the official client's informer, a handler, a retry loop</small></h2>
    <p>
      <span class="chip" data-tone=${isDead ? "bad" : "good"}>${state}</span>
      ${after === undefined ? nothing : html`<span class="fact">after <b>${formatDuration(after)}</b></span>`}
      <span class="fact">drift <b>${drift}</b></span>
      <span class="fact">overlapping writes <b>${overlaps}</b></span>
      <span class="fact">events <b>${events.toLocaleString("en")}</b></span>
      <span class="fact">errors <b>${errors}</b></span>
    </p>
    ${reason === undefined ? nothing : html`<p class="reason">${reason}</p>`}
  </section>`;
}
