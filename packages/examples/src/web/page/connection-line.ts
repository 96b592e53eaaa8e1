import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../terminal/duration.ts";
import type { Connection, Picture } from "./news.ts";

const CONNECTIONS: Record<Connection, string> = {
  connecting: "connecting…",
  live: "live",
  stalled: "stalled, no data",
  disconnected: "disconnected, retrying",
};

/** The state of the connection, and the age of the data. */
export function connectionLine({ snapshot, connection, age }: Picture<unknown>): TemplateResult {
  const seconds = Math.floor(age / 1_000);
  const old = seconds === 0 ? "updated now" : `updated ${formatDuration(seconds * 1_000)} ago`;
  return html`<p class="connection" data-state=${connection}>
    <span role="status">${CONNECTIONS[connection]}</span>
    ${snapshot === undefined ? nothing : html`<span class="age">${old}</span>`}
  </p>`;
}
