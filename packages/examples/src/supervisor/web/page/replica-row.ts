import { html, nothing, type TemplateResult } from "lit-html";
import type { ReplicaSnapshot } from "../snapshot.ts";

function card({ identity, role, pid, restarts }: ReplicaSnapshot): TemplateResult {
  return html`<li data-role=${role} aria-label=${`${identity}, ${role}`}>
    <strong>${identity}</strong>
    <span class="chip">${role}</span>
    <span class="fact">pid <b>${pid ?? "–"}</b></span>
    <span class="fact">restarts <b>${restarts}</b></span>
  </li>`;
}

/** A card for each supervisor, where there are several. */
export function replicaRow(replicas: readonly ReplicaSnapshot[]): TemplateResult | typeof nothing {
  if (replicas.length < 2) return nothing;
  return html`<section class="replicas">
    <h2>Replicas</h2>
    <ul>
      ${replicas.map(card)}
    </ul>
  </section>`;
}
