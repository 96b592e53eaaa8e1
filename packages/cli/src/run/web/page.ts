import { escapeHtml } from "@holdfast/kit/node";
import { formatDuration } from "../../arguments.ts";
import type { LogEntry, ProcessSnapshot, Snapshot } from "./snapshot.ts";

/** Whole seconds, rounded up: the last second is 1. */
function countdown(milliseconds: number): string {
  return formatDuration(Math.max(Math.ceil(milliseconds / 1_000), 0) * 1_000);
}

function nextStart({ nextStart: at, waits }: ProcessSnapshot, now: number): string {
  if (at === undefined) return "–";
  const planned = waits.at(-1)?.planned ?? 1;
  const done = Math.min(Math.max(planned - (at - now), 0), planned);
  return `starts in ${countdown(at - now)} <progress max="${planned}" value="${done}"></progress>`;
}

function readiness({ ready }: ProcessSnapshot): string {
  if (ready === undefined) return "–";
  return ready ? "yes" : "no";
}

function row(process: ProcessSnapshot, now: number): string {
  const { name, phase, pid, restarts, reason, lastExit } = process;
  return `<tr id="process-${escapeHtml(name)}">
  <th scope="row">${escapeHtml(name)}</th>
  <td><span class="phase" data-phase="${phase}">${phase}</span></td>
  <td>${readiness(process)}</td>
  <td class="number">${escapeHtml(pid)}</td>
  <td class="number">${restarts}</td>
  <td>${escapeHtml(reason ?? lastExit)}</td>
  <td>${nextStart(process, now)}</td>
</tr>`;
}

function entry({ at, name, text: line }: LogEntry): string {
  const time = new Date(at).toISOString();
  return `<li><time datetime="${time}">${time.slice(11, 23)}</time> <strong>${escapeHtml(name ?? "")}</strong> ${escapeHtml(line)}</li>`;
}

const COLUMNS = ["Name", "Phase", "Ready", "PID", "Restarts", "Reason or last exit", "Next start"];

/** The content of the page. */
export function mainOf({ at, file, pid, processes, log }: Snapshot): string {
  return `<header id="about"><h1>${escapeHtml(file)}</h1><p>holdfast run, pid ${pid}</p></header>
<table><thead><tr>${COLUMNS.map((column) => `<th scope="col">${column}</th>`).join("")}</tr></thead>
<tbody>${processes.map((process) => row(process, at)).join("\n")}</tbody></table>
<section id="log"><h2>Changes, in UTC</h2>
<ol tabindex="0" aria-label="Changes, the newest first">${log.toReversed().map(entry).join("\n")}</ol></section>`;
}

/** Beside the style of all live pages. */
export const STYLE = `.phase { white-space: nowrap; font-weight: 600; }
[data-phase="Running"] { color: light-dark(#12692f, #6fd18c); }
[data-phase="CrashLoopBackOff"] { color: light-dark(#8a5300, #f0b357); }
[data-phase="Failed"] { color: light-dark(#ad1f1f, #ff8f85); }
[data-phase="Completed"] { color: light-dark(#0b5c7a, #6cc7e8); }
`;
