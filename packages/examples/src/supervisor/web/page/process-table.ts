import { html, nothing, type TemplateResult } from "lit-html";
import type { ProcessSnapshot } from "../snapshot.ts";
import { backoff } from "./backoff.ts";

const READINESS: ReadonlyMap<boolean | undefined, string> = new Map([
  [true, "ready"],
  [false, "not ready"],
]);

// The roles are those that the elements have; a narrow window lays the table out as cards, and browsers
// then forget them.
function cell(label: string, text: string | number | undefined, look = ""): TemplateResult {
  const classes = text === undefined ? `${look} none` : look;
  return html`<td role="cell" data-label=${label} class=${classes}>${text ?? "–"}</td>`;
}

function row(process: ProcessSnapshot, now: number): TemplateResult {
  const { name, phase, ready, pid, restarts, lastExit, waits } = process;
  return html`<tr role="row" data-phase=${phase}>
    <th role="rowheader" scope="row" title=${name}>${name}</th>
    <td role="cell"><span class="chip">${phase}</span></td>
    ${cell("Ready", READINESS.get(ready), ready === false ? "warn" : "")}
    ${cell("PID", pid, "number")}
    ${cell("Restarts", restarts, "number")}
    <td role="cell" class=${waits.length === 0 ? "none" : ""}>${backoff(process, now)}</td>
    ${cell("Last exit", lastExit, "exit")}
  </tr>`;
}

/** The processes that run or will start again. */
export function processTable(processes: readonly ProcessSnapshot[], now: number): TemplateResult {
  return html`<section class="processes">
    <table role="table" aria-label="Processes">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Process</th>
          <th role="columnheader" scope="col">Phase</th>
          <th role="columnheader" scope="col">Ready</th>
          <th role="columnheader" scope="col" class="number">PID</th>
          <th role="columnheader" scope="col" class="number">Restarts</th>
          <th role="columnheader" scope="col">Backoff, next start</th>
          <th role="columnheader" scope="col">Last exit</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${processes.map((process) => row(process, now))}
      </tbody>
    </table>
    ${processes.length === 0 ? html`<p class="empty">No process is known.</p>` : nothing}
  </section>`;
}
