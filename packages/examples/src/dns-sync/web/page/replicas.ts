import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { ReplicaSnapshot, Snapshot } from "../snapshot.ts";

const TONES: Record<ReplicaSnapshot["state"], string> = {
  starting: "info",
  standby: "",
  leader: "good",
  paused: "warn",
  stopping: "warn",
  killed: "bad",
  gone: "bad",
};

const MEGABYTE = 1_024 ** 2;

// Explicit roles keep the table accessible in narrow windows. There the CSS lays it out as cards, and browsers
// drop the implicit roles.
function row(
  { name, state, pid, token, heap }: ReplicaSnapshot,
  lease: Snapshot["lease"],
  now: number,
) {
  const isHolder = lease?.holder === name;
  const age = isHolder ? formatDuration(Math.max(0, now - lease.renewedAt)) : "–";
  return html`<tr role="row">
    <th role="rowheader" scope="row">${name}</th>
    <td role="cell"><span class="chip" data-tone=${TONES[state]}>${state}</span></td>
    <td role="cell" data-label="PID" class="number">${pid ?? "–"}</td>
    <td role="cell" data-label="Token" class="number">${token ?? "–"}</td>
    <td role="cell" data-label="Lease age" class="number">${age}</td>
    <td role="cell" data-label="Heap" class="number">
      ${heap === undefined ? "–" : `${(heap / MEGABYTE).toFixed(1)} MB`}
    </td>
  </tr>`;
}

/** The replica processes and the leader's lease. */
export function replicaTable({ replicas, lease }: Snapshot, now: number): TemplateResult {
  const heads = ["PID", "Token", "Lease age", "Heap"].map(
    (name) => html`<th role="columnheader" scope="col" class="number">${name}</th>`,
  );
  return html`<section class="replicas">
    <table role="table" aria-label="Replicas">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Replica</th>
          <th role="columnheader" scope="col">State</th>
          ${heads}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${replicas.map((replica) => row(replica, lease, now))}
      </tbody>
    </table>
    ${replicas.length === 0 ? html`<p class="empty">No replicas are running.</p>` : nothing}
  </section>`;
}
