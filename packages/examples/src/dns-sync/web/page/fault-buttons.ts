import { html, type TemplateResult } from "lit-html";
import type { Commands } from "../../../web/page/commands.ts";
import type { Snapshot } from "../snapshot.ts";

/** The text of a button, its path, and what it does. */
const BUTTONS = [
  ["Kill the leader", "/kill", "SIGKILL; a standby leads when the lease of 8 s has expired"],
  ["Stop the API server", "/stop-api", "For 8 s; it restarts without its watch history"],
  ["Compact", "/compact", "Ends all watches with 410: informers list again"],
  ["Provider outage", "/outage", "The provider answers 503 for 6 s"],
  ["5,000 edits", "/edit", "The queue merges edits of one record into few reconciles"],
  ["Drift", "/drift", "20 records change at the provider, behind the operator's back"],
] as const;

const HARMLESS: readonly string[] = ["/edit", "/drift"];

const OF_API: readonly string[] = ["/stop-api", "/compact"];

/** Buttons that start faults, and the totals of the run. */
export function faultButtons(
  { canStopApi, totals }: Snapshot,
  send: Commands["send"],
): TemplateResult {
  const { faults, edits, reconciles, failures, handOvers } = totals;
  const buttons = BUTTONS.map(([text, path, effect]) => {
    const isOff = !canStopApi && OF_API.includes(path);
    const tone = HARMLESS.includes(path) ? "" : "harm";
    return html`<button type="button" class=${tone} title=${effect} ?disabled=${isOff} @click=${() => send(path)}>
      ${text}
    </button>`;
  });
  const facts = Object.entries({
    faults,
    edits,
    reconciles,
    "failed reconciles": failures,
    "changes of leader": handOvers,
  });
  return html`<section class="faults" aria-label="Faults">
    <div class="buttons">${buttons}</div>
    <p>
      ${facts.map(([name, count]) => html`<span class="fact">${name} <b>${count.toLocaleString("en")}</b></span> `)}
    </p>
  </section>`;
}
