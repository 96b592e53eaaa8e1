import { html, nothing, type TemplateResult } from "lit-html";
import type { Invariant } from "../../harness/invariants.ts";

const TONES: Record<Invariant["state"], string> = { holds: "good", broken: "bad", unchecked: "" };

/** The invariants and their states. */
export function invariantPanel(invariants: readonly Invariant[]): TemplateResult {
  const items = invariants.map(
    ({ name, state, checks, problem }) => html`<li data-state=${state}>
      <span class="chip" data-tone=${TONES[state]}>${state}</span>
      <span class="name">${name}</span>
      <small>${checks}</small>
      ${problem === undefined ? nothing : html`<em>${problem}</em>`}
    </li>`,
  );
  return html`<section class="invariants">
    <h2>Invariants</h2>
    <ul aria-label="Invariants">${items}</ul>
  </section>`;
}
