import { html, type TemplateResult } from "lit-html";
import type { Commands } from "../../../web/page/commands.ts";
import type { Snapshot } from "../snapshot.ts";

const BUTTONS = [
  ["Kill the leader", "/kill"],
  ["Stop the API", "/stop-api"],
  ["Compact", "/compact"],
  ["Provider outage", "/outage"],
  ["5,000 edits", "/edit"],
  ["Drift", "/drift"],
] as const;

const OF_API: readonly string[] = ["/stop-api", "/compact"];

/** Buttons that start faults, and the totals of the run. */
export function faultButtons(
  { canStopApi, totals }: Snapshot,
  send: Commands["send"],
): TemplateResult {
  const { faults, edits, reconciles, failures, handOvers } = totals;
  const buttons = BUTTONS.map(([text, path]) => {
    const isOff = !canStopApi && OF_API.includes(path);
    return html`<button type="button" class="harm" ?disabled=${isOff} @click=${() => send(path)}>
      ${text}
    </button>`;
  });
  const facts = Object.entries({
    faults,
    edits,
    reconciles,
    failed: failures,
    "hand-overs": handOvers,
  });
  return html`<section class="faults" aria-label="Faults">
    <div class="buttons">${buttons}</div>
    <p>
      ${facts.map(([name, count]) => html`<span class="fact">${name} <b>${count.toLocaleString("en")}</b></span> `)}
    </p>
  </section>`;
}
