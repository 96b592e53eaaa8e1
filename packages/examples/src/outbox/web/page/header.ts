import { html, nothing, type TemplateResult } from "lit-html";
import type { CommandResult } from "../../../web/page/commands.ts";
import { connectionLine } from "../../../web/page/connection-line.ts";
import type { Picture } from "../../../web/page/news.ts";
import type { Snapshot } from "../snapshot.ts";

const STATES: Record<Snapshot["state"], readonly [text: string, tone: string]> = {
  running: ["running", "info"],
  settled: ["settled", "good"],
  stopping: ["stopping", "warn"],
};

function stateChip({ state }: Snapshot): TemplateResult {
  const [text, tone] = STATES[state];
  return html`<span class="chip state" data-tone=${tone}>${text}</span>`;
}

/** The subject of the page, the state of the run, and the result of the last button. */
export function pageHeader(
  picture: Picture<Snapshot>,
  result: CommandResult | undefined,
): TemplateResult {
  const { snapshot } = picture;
  const trouble = snapshot?.trouble;
  return html`<header>
      <div class="title">
        <h1>Outbox</h1>
        <code>${snapshot?.parts}</code>
        ${snapshot === undefined ? nothing : stateChip(snapshot)}
      </div>
      ${connectionLine(picture)}
    </header>
    <p class="about">
      Each order is saved in one transaction with a message. Workers send the messages to a receiver that fails and
      stalls. Kill a worker: another one sends what it had claimed, and no message is lost.
    </p>
    ${
      trouble === undefined
        ? nothing
        : html`<p class="trouble">The tables could not be read: ${trouble}</p>`
    }
    <p class="result" data-state=${result?.state ?? "none"} aria-live="polite">${result?.text}</p>`;
}
