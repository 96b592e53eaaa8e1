import { html, nothing, svg, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import { connectionLine } from "../../../web/page/connection-line.ts";
import type { Picture } from "../../../web/page/news.ts";
import type { Snapshot } from "../snapshot.ts";

const crown: TemplateResult<2> = svg`<path d="M2 12.5h12L15 5l-4 3-3-5.5L5 8 1 5z" />`;

function leaderLine({ leader, replicas }: Snapshot, now: number) {
  // A single supervisor always leads.
  if (replicas.length < 2) return nothing;
  if (leader === undefined)
    return html`<p class="leader vacant"><strong>No leader</strong> until the lease expires</p>`;
  const { identity, token, since } = leader;
  return html`<p class="leader">
    <svg class="crown" viewBox="0 0 16 16" aria-hidden="true">${crown}</svg>
    <strong>${identity}</strong> leads
    <span class="fact">token <b>${token}</b></span>
    <span class="fact">for <b>${formatDuration(Math.max(now - since, 0))}</b></span>
  </p>`;
}

/** Announcement of a screen reader when the leader changes, and only then. */
function announcement({ leader, replicas }: Snapshot): string {
  if (replicas.length < 2) return "";
  return leader === undefined ? "No leader." : `${leader.identity} leads.`;
}

/** The manifest, the leader and the age of the data. */
export function pageHeader(picture: Picture<Snapshot>): TemplateResult {
  const { snapshot, now } = picture;
  return html`<header>
    <div class="title">
      <h1>Supervisor</h1>
      <code>${snapshot?.file}</code>
    </div>
    ${snapshot === undefined ? nothing : leaderLine(snapshot, now)} ${connectionLine(picture)}
    <p class="unseen" aria-live="polite">${snapshot === undefined ? "" : announcement(snapshot)}</p>
  </header>
  <p class="about">
    Keeps the processes of a YAML file running. One that exits starts again after a backoff that doubles with each
    crash. Edit the file, or kill a process by its PID.
  </p>`;
}
