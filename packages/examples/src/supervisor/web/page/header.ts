import { html, nothing, svg, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import { connectionLine } from "../../../web/page/connection-line.ts";
import type { Picture } from "../../../web/page/news.ts";
import type { Snapshot } from "../snapshot.ts";

const crown: TemplateResult<2> = svg`<path d="M2 12.5h12L15 5l-4 3-3-5.5L5 8 1 5z" />`;

function leaderLine({ leader, replicas }: Snapshot, now: number) {
  // Nobody else could lead.
  if (replicas.length < 2) return nothing;
  if (leader === undefined)
    return html`<p class="leader nobody"><strong>Nobody leads,</strong> until the lease runs out</p>`;
  const { identity, token, since } = leader;
  return html`<p class="leader">
    <svg class="crown" viewBox="0 0 16 16" aria-hidden="true">${crown}</svg>
    <strong>${identity}</strong> leads
    <span class="fact">token <b>${token}</b></span>
    <span class="fact">for <b>${formatDuration(Math.max(now - since, 0))}</b></span>
  </p>`;
}

/** What a screen reader says when the leader changes, and only then. */
function announcement({ leader, replicas }: Snapshot): string {
  if (replicas.length < 2) return "";
  return leader === undefined ? "Nobody leads." : `${leader.identity} leads.`;
}

/** What this page is about, who leads, and how old all this is. */
export function pageHeader(picture: Picture<Snapshot>): TemplateResult {
  const { snapshot, now } = picture;
  return html`<header>
    <div class="title">
      <h1>Supervisor</h1>
      <code>${snapshot?.file}</code>
    </div>
    ${snapshot === undefined ? nothing : leaderLine(snapshot, now)} ${connectionLine(picture)}
    <p class="unseen" aria-live="polite">${snapshot === undefined ? "" : announcement(snapshot)}</p>
  </header>`;
}
