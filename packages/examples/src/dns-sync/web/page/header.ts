import { html, nothing, type TemplateResult } from "lit-html";
import type { CommandResult } from "../../../web/page/commands.ts";
import { connectionLine } from "../../../web/page/connection-line.ts";
import type { Picture } from "../../../web/page/news.ts";
import type { Snapshot } from "../snapshot.ts";

/** The title, the API server, and the result of the last click. */
export function pageHeader(
  picture: Picture<Snapshot>,
  result: CommandResult | undefined,
): TemplateResult {
  const { snapshot } = picture;
  return html`<header>
      <div class="title">
        <h1>dns-sync</h1>
        ${snapshot === undefined ? nothing : html`<code>${snapshot.api}</code>`}
      </div>
      ${connectionLine(picture)}
    </header>
    <p class="about">
      Three replicas of a Kubernetes operator copy DNS records to a provider that fails. Break something: the
      invariants must hold.
    </p>
    <p class="result" data-state=${result?.state ?? "none"} aria-live="polite">${result?.text}</p>`;
}
