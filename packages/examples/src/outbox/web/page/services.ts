import { html, nothing, type TemplateResult } from "lit-html";
import { formatDuration } from "../../../terminal/duration.ts";
import type { Commands } from "../../../web/page/commands.ts";
import type { LockSnapshot, ServiceSnapshot, Snapshot } from "../snapshot.ts";

function service({ name, state }: ServiceSnapshot, send: Commands["send"]): TemplateResult {
  const isDisconnected = state === "disconnected";
  const turn = (): void => send(isDisconnected ? "/reconnect" : "/disconnect", { service: name });
  const text = isDisconnected ? "Reconnect" : "Disconnect";
  return html`<li>
    <strong>${name}</strong>
    <span class="chip" data-tone=${isDisconnected ? "bad" : "good"}>${isDisconnected ? "disconnected" : "connected"}</span>
    ${
      state === "fixed"
        ? html`<small>not reached by plain TCP: stop it yourself</small>`
        : html`<button type="button" class=${isDisconnected ? "" : "harm"} @click=${turn}>
          ${text}<span class="unseen"> the ${name}</span>
        </button>`
    }
  </li>`;
}

function holder(lock: LockSnapshot | undefined, now: number): TemplateResult {
  if (lock === undefined) return html`<small>never held</small>`;
  const { holder: name, state, until } = lock;
  if (state === "free") return html`<small>last held by ${name}</small>`;
  const left = formatDuration(Math.max(Math.ceil((until - now) / 1_000), 0) * 1_000);
  return html`<small>${name}, lease for ${left}</small>`;
}

/** The lock, the services that can be disconnected, and the dead messages that can be replayed. */
export function serviceRow(
  { services, lock, messages }: Snapshot,
  now: number,
  send: Commands["send"],
): TemplateResult {
  const { dead } = messages;
  const isHeld = lock?.state === "held";
  return html`<section class="services">
    <h2>Services</h2>
    <ul aria-label="Services">
      ${services.map((each) => service(each, send))}
      <li>
        <strong>lock</strong>
        <span class="chip" data-tone=${isHeld ? "info" : ""}>${isHeld ? "held" : "free"}</span>
        ${holder(lock, now)}
      </li>
      <li>
        <strong>dead</strong>
        <span class="chip" data-tone=${dead === 0 ? "" : "bad"}>${dead}</span>
        <button
          type="button"
          ?disabled=${dead === 0}
          title="Repairs the receiver, and sends the dead messages again"
          @click=${() => send("/replay")}
        >
          Repair and replay${dead === 0 ? nothing : html`<span class="unseen"> the dead</span>`}
        </button>
      </li>
    </ul>
  </section>`;
}
