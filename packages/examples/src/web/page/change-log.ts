import { html, type TemplateResult } from "lit-html";
import type { LogEntry } from "../log-entry.ts";

/** "14:03:07.214", in the time of the reader. */
function timeOfDay(at: number): string {
  const date = new Date(at);
  const clock = date.toLocaleTimeString("en-GB", { hour12: false });
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** The latest changes, the newest first. */
export function changeLog(log: readonly LogEntry[]): TemplateResult {
  const lines = log.toReversed().map(
    ({ at, name, text }) => html`<li>
      <time datetime=${new Date(at).toISOString()}>${timeOfDay(at)}</time>
      <strong>${name}</strong>
      <span>${text}</span>
    </li>`,
  );
  return html`<section class="log">
    <h2>Changes</h2>
    <ol tabindex="0" aria-label="Changes, the newest first">${lines}</ol>
  </section>`;
}
