import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Commands } from "../../../web/page/commands.ts";
import type { LockSnapshot, Snapshot } from "../snapshot.ts";

function holder(lock: LockSnapshot | undefined, now: number): TemplateResult {
  if (lock === undefined) return html`<small>never held</small>`;
  const { holder: name, state, until } = lock;
  if (state === "free") return html`<small>last held by ${name}</small>`;
  const left = formatDuration(Math.max(Math.ceil((until - now) / 1_000), 0) * 1_000);
  return html`<small>${name}, lease for ${left}</small>`;
}

/** The lock, and the dead letters that can be replayed. */
export function upkeep(
  { lock, messages }: Snapshot,
  now: number,
  send: Commands["send"],
): TemplateResult {
  const { dead } = messages;
  const isHeld = lock?.state === "held";
  return html`<section class="upkeep">
    <h2>Upkeep</h2>
    <ul aria-label="Upkeep">
      <li>
        <strong>lock</strong>
        <span class="chip" data-tone=${isHeld ? "info" : ""}>${isHeld ? "held" : "free"}</span>
        ${holder(lock, now)}
      </li>
      <li>
        <strong>dead letters</strong>
        <span class="chip" data-tone=${dead === 0 ? "" : "bad"}>${dead}</span>
        <button
          type="button"
          ?disabled=${dead === 0}
          title="Repairs the receiver, and replays the dead letters"
          @click=${() => send("/replay")}
        >
          Repair and replay${dead === 0 ? nothing : html`<span class="unseen"> the dead letters</span>`}
        </button>
      </li>
    </ul>
  </section>`;
}
