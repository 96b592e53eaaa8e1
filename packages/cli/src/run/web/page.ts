import { formatDuration } from "../../arguments.ts";
import type { LogEntry, ProcessSnapshot, Snapshot } from "./snapshot.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Text in HTML: what a process prints is shown as it is. */
function text(value: string | number | undefined): string {
  return String(value ?? "–").replace(/[&<>"]/g, (character) => ENTITIES[character] ?? "");
}

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
  return `<tr id="process-${text(name)}">
  <th scope="row">${text(name)}</th>
  <td><span class="phase" data-phase="${phase}">${phase}</span></td>
  <td>${readiness(process)}</td>
  <td class="number">${text(pid)}</td>
  <td class="number">${restarts}</td>
  <td>${text(reason ?? lastExit)}</td>
  <td>${nextStart(process, now)}</td>
</tr>`;
}

function entry({ at, name, text: line }: LogEntry): string {
  const time = new Date(at).toISOString();
  return `<li><time datetime="${time}">${time.slice(11, 23)}</time> <strong>${text(name ?? "")}</strong> ${text(line)}</li>`;
}

const COLUMNS = ["Name", "Phase", "Ready", "PID", "Restarts", "Reason or last exit", "Next start"];

/** What changes on the page. */
export function mainOf({ at, file, pid, processes, log }: Snapshot): string {
  return `<header id="about"><h1>${text(file)}</h1><p>holdfast run, pid ${pid}</p></header>
<table><thead><tr>${COLUMNS.map((column) => `<th scope="col">${column}</th>`).join("")}</tr></thead>
<tbody>${processes.map((process) => row(process, at)).join("\n")}</tbody></table>
<section id="log"><h2>Changes, in UTC</h2>
<ol tabindex="0" aria-label="Changes, the newest first">${log.toReversed().map(entry).join("\n")}</ol></section>`;
}

/** The page, with the state of this moment in it. */
export function pageOf(snapshot: Snapshot): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${text(snapshot.file)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<p id="connection" role="status">as of ${new Date(snapshot.at).toISOString()}</p>
<main>${mainOf(snapshot)}</main>
</body>
</html>
`;
}

/** The script of the page. Each event is the new content of `main`; rows that stay the same keep focus and selection. */
export const SCRIPT = `const main = document.querySelector("main");
const connection = document.querySelector("#connection");
const SILENCE = 3000;
let silence;
let last = "";
const idsOf = (root) => [...root.querySelectorAll("[id]")].map(({ id }) => id).join(" ");
function show(html) {
  if (html === last) return;
  last = html;
  const next = document.createElement("main");
  next.innerHTML = html;
  if (idsOf(next) !== idsOf(main)) return main.replaceChildren(...next.childNodes);
  for (const part of next.querySelectorAll("[id]")) {
    const old = document.getElementById(part.id);
    if (old.outerHTML !== part.outerHTML) old.replaceWith(part);
  }
}
function say(state) {
  connection.textContent = state;
  main.classList.toggle("stale", state !== "live");
}
const source = new EventSource("/view");
source.onmessage = ({ data }) => {
  clearTimeout(silence);
  silence = setTimeout(() => say("stalled, no data"), SILENCE);
  show(JSON.parse(data));
  say("live");
};
source.onerror = () => {
  clearTimeout(silence);
  say("disconnected, retrying");
};
`;

export const STYLE = `:root { font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; }
header p { margin: 0 0 1rem; opacity: 0.75; }
#connection { float: right; margin: 0; opacity: 0.75; }
main.stale { opacity: 0.6; }
main { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
td { overflow-wrap: anywhere; }
thead th { font-weight: 500; opacity: 0.75; white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; }
.phase { white-space: nowrap; font-weight: 600; }
[data-phase="Running"] { color: light-dark(#12692f, #6fd18c); }
[data-phase="CrashLoopBackOff"] { color: light-dark(#8a5300, #f0b357); }
[data-phase="Failed"] { color: light-dark(#ad1f1f, #ff8f85); }
[data-phase="Completed"] { color: light-dark(#0b5c7a, #6cc7e8); }
progress { width: 4rem; }
ol { list-style: none; padding: 0; max-height: 20rem; overflow-y: auto; }
time { font-variant-numeric: tabular-nums; opacity: 0.75; }
`;
