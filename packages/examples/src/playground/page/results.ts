import { html, type TemplateResult } from "lit-html";
import type { DelayRange } from "../../delays/delay-ranges.ts";
import { count, seconds } from "../../herd/report.ts";
import { formatDuration } from "../../terminal/duration.ts";
import type { Drawing } from "../draw.ts";
import type { HerdState } from "./herd-runner.ts";

/** A drawing as an image, with its description for screen readers. */
export function image({ wide, narrow }: Drawing): TemplateResult {
  const title = /<title[^>]*>([^<]*)<\/title>/.exec(wide)?.[1] ?? "";
  const text = new DOMParser().parseFromString(title, "text/html").body.textContent ?? "";
  const urlOf = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return html`<picture>
    <source media="(max-width: 40rem)" srcset=${urlOf(narrow)} />
    <img src=${urlOf(wide)} alt=${text} />
  </picture>`;
}

export function numbers(ranges: readonly DelayRange[]): TemplateResult {
  let at = 0;
  return html`<table aria-labelledby="numbers-title">
    <thead>
      <tr>
        <th scope="col">Delay</th>
        <th scope="col">Shortest</th>
        <th scope="col">Longest</th>
        <th scope="col">This run</th>
        <th scope="col">Next call at</th>
      </tr>
    </thead>
    <tbody>
      ${ranges.map(({ low, high, drawn }, index) => {
        at += drawn;
        return html`<tr>
          <th scope="row">${index + 1}</th>
          ${[low, high, drawn, at].map((value) => html`<td>${formatDuration(value)}</td>`)}
        </tr>`;
      })}
    </tbody>
  </table>`;
}

export function code(program: string, copy: (text: string) => void): TemplateResult {
  return html`<div class="code">
    <pre tabindex="0" aria-label="Code"><code>${program}</code></pre>
    <button type="button" class="copy-code" @click=${() => copy(program)}>Copy code</button>
  </div>`;
}

export function herd(state: HerdState | undefined): TemplateResult {
  if (state === undefined) return html`<p class="pending">Simulating…</p>`;
  if (state.state === "failed")
    return html`<p class="problem">
      Not simulated: ${state.problem}. Use longer delays, fewer clients or a shorter outage.
    </p>`;
  const { inVain, calls, peak, lastServed } = state.load;
  const facts: [string, string][] = [
    ["Calls while the server was down", count(inVain)],
    ["Calls afterwards, until all were served", count(calls)],
    ["Most calls within 250 ms", count(peak)],
    ["Last client served after", seconds(lastServed)],
  ];
  return html`${image(state.drawing)}
    <dl>
      ${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
    </dl>`;
}
