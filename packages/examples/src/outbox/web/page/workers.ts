import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Commands } from "../../../web/page/commands.ts";
import type { Snapshot, WorkerSnapshot } from "../snapshot.ts";

const TONES: Record<WorkerSnapshot["state"], string> = {
  starting: "info",
  working: "good",
  killed: "bad",
  gone: "bad",
};

function claims({ claims: count, until, state }: WorkerSnapshot, now: number): string {
  if (count === 0 || until === undefined) return "–";
  // A worker that lives settles its claims long before they end.
  if (state === "working") return String(count);
  const left = until - now;
  return left > 0
    ? `${count}, back in ${formatDuration(Math.ceil(left / 1_000) * 1_000)}`
    : `${count}, ended`;
}

// The roles are those that the elements have; a narrow window lays the table out as cards, and browsers
// then forget them.
function row(worker: WorkerSnapshot, now: number, send: Commands["send"]): TemplateResult {
  const { name, state, pid } = worker;
  const kill = (): void => send("/kill", { worker: name });
  const isAlive = state === "starting" || state === "working";
  return html`<tr role="row">
    <th role="rowheader" scope="row" title=${name}>${name}</th>
    <td role="cell"><span class="chip" data-tone=${TONES[state]}>${state}</span></td>
    <td role="cell" data-label="PID" class=${pid === undefined ? "number none" : "number"}>
      ${pid ?? "–"}
    </td>
    <td role="cell" data-label="Claims">${claims(worker, now)}</td>
    <td role="cell" class="button">
      ${isAlive ? html`<button type="button" class="harm" @click=${kill}>Kill<span class="unseen"> ${name}</span></button>` : nothing}
    </td>
  </tr>`;
}

/** The processes that share the outbox, and the claims of those that have gone. */
export function workerTable(
  { workers, killed }: Snapshot,
  now: number,
  send: Commands["send"],
): TemplateResult {
  return html`<section class="workers">
    <table role="table" aria-label="Workers">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Worker</th>
          <th role="columnheader" scope="col">State</th>
          <th role="columnheader" scope="col" class="number">PID</th>
          <th role="columnheader" scope="col">Claims</th>
          <th role="columnheader" scope="col"><span class="fact">killed <b>${killed}</b></span></th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${workers.map((worker) => row(worker, now, send))}
      </tbody>
    </table>
    ${workers.length === 0 ? html`<p class="empty">No running workers.</p>` : nothing}
  </section>`;
}
