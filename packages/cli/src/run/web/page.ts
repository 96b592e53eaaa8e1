import { escapeHtml, strip, windowOf } from "@holdfast/kit/node";
import { formatDuration } from "../../arguments.ts";
import type { LogEntry, ProcessSnapshot, Snapshot } from "./snapshot.ts";

/** How a process ended last, with what it said before. */
export function endText(
  lastExit: string | undefined,
  words: string | undefined,
): string | undefined {
  return words === undefined ? lastExit : `${lastExit}, "${words}"`;
}

/** Whole seconds, rounded up: the last second is 1. */
function countdown(milliseconds: number): string {
  return formatDuration(Math.max(Math.ceil(milliseconds / 1_000), 0) * 1_000);
}

function factsOf(process: ProcessSnapshot): string {
  const { ready, pid, restarts, reason, lastExit, lastWords } = process;
  const facts = [
    ready === undefined ? undefined : ready ? "ready" : "not ready",
    pid && `pid ${pid}`,
    `restarts: ${restarts}`,
    reason ?? endText(lastExit, lastWords),
  ];
  return facts
    .filter((fact) => fact !== undefined)
    .map((fact) => `<span>${escapeHtml(fact)}</span>`)
    .join(" ");
}

const BAR = { width: 8, step: 10, height: 24 };

/** The latest delays side by side; the one that lasts fills up. */
function delaysOf({ name, waits, nextStart, cap }: ProcessSnapshot, now: number): string {
  const last = waits.at(-1)?.planned;
  if (last === undefined) return "";
  const longest = Math.max(1, ...waits.map(({ planned }) => planned));
  const left = nextStart === undefined ? 0 : Math.max(nextStart - now, 0);
  const bar = (look: string, index: number, delay: number): string => {
    const height = Math.max((delay / longest) * BAR.height, 1);
    return `<rect class="${look}" x="${index * BAR.step}" y="${(BAR.height - height).toFixed(1)}" width="${BAR.width}" height="${height.toFixed(1)}"/>`;
  };
  const bars = waits.map(({ planned }, index) => {
    const done = index === waits.length - 1 ? Math.max(planned - left, 0) : planned;
    return bar("planned", index, planned) + bar("waiting", index, done);
  });
  const label = `Latest delays: ${waits.map(({ planned }) => formatDuration(planned)).join(", ")}`;
  const [width, limit] = [waits.length * BAR.step, `at most ${formatDuration(cap)}`];
  const text =
    nextStart === undefined
      ? `last delay ${formatDuration(last)}, ${limit}`
      : `starts in ${countdown(left)}; delay ${formatDuration(last)}, ${limit}`;
  return `<p class="delays"><svg id="delays-${escapeHtml(name)}" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${width} ${BAR.height}" width="${width}" height="${BAR.height}">${bars.join("")}</svg> ${text}</p>`;
}

const ENDED: ReadonlySet<string> = new Set(["Completed", "Failed", "Stopped"]);

/** For the user of the supervisor alone. */
function buttonsOf({ name, phase, output }: ProcessSnapshot): string {
  if (output === undefined) return "";
  const isEnded = ENDED.has(phase);
  const button = (verb: string, path: string, isIdle: boolean): string => {
    const post = escapeHtml(`${path}?name=${encodeURIComponent(name)}`);
    return `<button type="button" data-post="${post}" aria-label="${verb} ${escapeHtml(name)}" aria-disabled="${isIdle}">${verb}</button>`;
  };
  const start = button(isEnded ? "Start" : "Restart", "/restart", false);
  return `<p class="buttons">${start} ${button("Stop", "/stop", isEnded)}</p>`;
}

function outputOf({ name, output }: ProcessSnapshot): string {
  if (output === undefined) return "";
  const text = output.length === 0 ? "no output" : output.join("\n");
  return `<div class="output" tabindex="0" role="region" aria-label="Output of ${escapeHtml(name)}"><pre>${escapeHtml(text)}</pre></div>`;
}

function processOf(process: ProcessSnapshot, from: number, now: number): string {
  const { name, phase, spans } = process;
  const id = escapeHtml(name);
  const line = { id: `time-${name}`, label: `States of ${name}`, spans, from, to: now };
  return `<section id="process-${id}" class="process" aria-label="${id}">
<div><h2>${id} <span class="phase" data-phase="${phase}">${phase}</span></h2>${buttonsOf(process)}
<p class="facts">${factsOf(process)}</p>
${strip(line)}
${delaysOf(process, now)}</div>
${outputOf(process)}
</section>`;
}

function entry({ at, name, text: line }: LogEntry): string {
  const time = new Date(at).toISOString();
  return `<li><time datetime="${time}">${time.slice(11, 23)}</time> <strong>${escapeHtml(name ?? "")}</strong> ${escapeHtml(line)}</li>`;
}

const STATES = ["ready", "running", "waiting", "down"];

/** The content of the page. */
export function mainOf({ at, file, pid, processes, log }: Snapshot): string {
  const starts = processes.flatMap(({ spans }) => spans.slice(0, 1).map((span) => span.at));
  const { length, text } = windowOf(Math.min(at, ...starts), at);
  const keys = STATES.map((state) => `<span class="key ${state}">${state}</span>`).join(" ");
  const others = processes.every(({ output }) => output === undefined)
    ? '<p id="others"><code>holdfast run page</code> prints the address with output and buttons, for the user of this supervisor.</p>'
    : "";
  return `<header id="about"><h1>${escapeHtml(file)}</h1><p>holdfast run, pid ${pid}</p></header>
${others}<p id="keys">The last ${text}: ${keys}</p>
${processes.map((process) => processOf(process, at - length, at)).join("\n")}
<section id="log"><h2>Changes, in UTC</h2>
<ol tabindex="0" aria-label="Changes, the newest first">${log.toReversed().map(entry).join("\n")}</ol></section>`;
}

/** Beside the style of all live pages. */
export const STYLE = `.process { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0.5rem 1.5rem; padding: 0.9rem 0; border-top: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
.process:not(:has(.output)) { grid-template-columns: minmax(0, 1fr); }
.process > div:first-child { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0.3rem 1rem; align-content: start; align-items: center; }
.process h2, .process p { margin: 0; overflow-wrap: anywhere; }
.facts, .strip, .delays { grid-column: 1 / -1; }
.facts span + span::before { content: "· "; opacity: 0.75; }
.delays { display: flex; gap: 0.6rem; align-items: flex-end; font-variant-numeric: tabular-nums; line-height: 1.2; }
.delays svg { flex: none; }
.output { display: flex; flex-direction: column-reverse; max-height: 8.5rem; min-height: 3rem; overflow: auto; padding: 0.4rem 0.6rem; box-sizing: border-box; background: color-mix(in srgb, currentcolor 7%, transparent); }
.output pre { margin: 0 0 auto; font: 0.8rem/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.ready { --look: light-dark(#1d8a43, #4cc26f); }
.running { --look: light-dark(#8fcfa3, #2d6b40); }
.waiting { --look: light-dark(#e0a03a, #c98a1e); }
.planned { --look: color-mix(in srgb, currentcolor 25%, transparent); }
.down { --look: light-dark(#8b8f96, #6b7078); }
.phase { white-space: nowrap; font-weight: 600; }
[data-phase="Running"] { color: light-dark(#12692f, #6fd18c); }
[data-phase="CrashLoopBackOff"] { color: light-dark(#8a5300, #f0b357); }
[data-phase="Failed"] { color: light-dark(#ad1f1f, #ff8f85); }
[data-phase="Completed"] { color: light-dark(#0b5c7a, #6cc7e8); }
@media (max-width: 50rem) { .process { grid-template-columns: minmax(0, 1fr); } }
`;
