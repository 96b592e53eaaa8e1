import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { BaselineSnapshot } from "../snapshot.ts";

/** The baseline, without a controller: the official client's informer, a handler, a retry loop. */
export function baselineSection(baseline: BaselineSnapshot | undefined): TemplateResult {
  if (baseline === undefined) return html``;
  const { state, after, reason, drift, overlaps, events, errors } = baseline;
  const isDead = state === "dead";
  return html`<section class="baseline" data-state=${state}>
    <h2>Baseline <small>the official client's informer, a handler, a retry loop</small></h2>
    <p>
      <span class="chip" data-tone=${isDead ? "bad" : "good"}>${state}</span>
      ${after === undefined ? nothing : html`<span class="fact">after <b>${formatDuration(after)}</b></span>`}
      <span class="fact">records that differ <b>${drift}</b></span>
      <span class="fact">overlapping writes <b>${overlaps}</b></span>
      <span class="fact">watch events <b>${events.toLocaleString("en")}</b></span>
      <span class="fact">errors <b>${errors}</b></span>
    </p>
    ${reason === undefined ? nothing : html`<p class="reason">${reason}</p>`}
  </section>`;
}
