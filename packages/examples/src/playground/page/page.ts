import { realClock } from "@holdfast/clock";
import { html, nothing, render, type TemplateResult } from "lit-html";
import { applyPreset, type Draft, draftOf, fragmentOf, PRESETS } from "../draft.ts";
import { drawDelays } from "../draw.ts";
import { type Problems, type Settings, settingsOf } from "../settings.ts";
import { programOf } from "../shape.ts";
import { type ControlsModel, herdControls, shapeControls } from "./controls.ts";
import { HerdRunner, type HerdState } from "./herd-runner.ts";
import { code, herd, image, numbers } from "./results.ts";

/** How long the settings rest before a simulation starts, in milliseconds. */
const REST = 250;

let { draft, unknown } = draftOf(location.hash);
let problems: Problems = {};
/** The latest settings that were valid. */
let settings: Settings | undefined;
/** The latest that was simulated; of older settings while `isPending`. */
let herdState: HerdState | undefined;
let isPending = false;
let said = "";
let changed = new AbortController();

const runner = new HerdRunner((state) => {
  herdState = state;
  isPending = false;
  if (state.state === "done") said = "Simulation done";
  draw();
});

function change(part: Partial<Draft>): void {
  draft = { ...draft, ...part };
  unknown = [];
  history.replaceState(null, "", `#${fragmentOf(draft)}`);
  check(REST);
}

function check(rest: number): void {
  const checked = settingsOf(draft);
  runner.stop();
  changed.abort();
  said = "";
  problems = "problems" in checked ? checked.problems : {};
  isPending = "settings" in checked;
  if ("settings" in checked) {
    settings = checked.settings;
    void simulate(settings, rest);
  }
  draw();
}

async function simulate(latest: Settings, rest: number): Promise<void> {
  changed = new AbortController();
  const { signal } = changed;
  try {
    await realClock.sleep(rest, { signal });
    runner.run(latest);
  } catch (reason) {
    if (!signal.aborted) throw reason;
  }
}

function copy(text: string, what: string): void {
  navigator.clipboard.writeText(text).then(
    () => say(`${what} copied`),
    () => say("The browser does not allow this page to copy"),
  );
}

function say(words: string): void {
  said = words;
  draw();
}

function complaints(): TemplateResult | typeof nothing {
  const messages = [
    ...unknown.map((name) => `The link has an unknown setting: ${name.slice(0, 40)}`),
    ...Object.values(problems),
  ];
  if (messages.length === 0) return nothing;
  return html`<div class="complaints" role="alert">
    <p>${settings === undefined ? "Nothing is drawn:" : "The pictures show the last valid settings:"}</p>
    <ul>
      ${messages.map((message) => html`<li>${message}</li>`)}
    </ul>
  </div>`;
}

function results(current: Settings): TemplateResult {
  const { ranges, drawing } = drawDelays(current);
  const program = programOf(current.shape);
  return html`<section aria-labelledby="delays-title">
      <h2 id="delays-title">One client: delay before each retry</h2>
      ${image(drawing)}
    </section>
    <section aria-labelledby="herd-title" aria-busy=${isPending ? "true" : "false"}>
      <h2 id="herd-title">All clients: thundering herd after an outage</h2>
      <p>
        All clients lose the server at the same instant and call until they are served. The server
        comes back after the outage and serves 10 calls at a time, 100 ms each.
      </p>
      ${herd(herdState)}
    </section>
    <section aria-labelledby="code-title">
      <h2 id="code-title">Code</h2>
      ${code(program, (text) => copy(text, "Code"))}
    </section>
    <section aria-labelledby="numbers-title">
      <h2 id="numbers-title">Numbers</h2>
      ${numbers(ranges)}
    </section>`;
}

function draw(): void {
  const model: ControlsModel = {
    draft,
    problems,
    change,
    preset: (index) => {
      const preset = PRESETS[index];
      if (preset !== undefined) change(applyPreset(draft, preset));
    },
  };
  const isStale = Object.keys(problems).length > 0;
  render(
    html`<form @submit=${(event: Event) => event.preventDefault()}>
        ${shapeControls(model)} ${herdControls(model)}
        <button type="button" @click=${() => copy(location.href, "Link")}>Copy link</button>
      </form>
      <div class=${isStale ? "results stale" : "results"}>
        <p class="unseen" role="status">${said}</p>
        ${complaints()} ${settings === undefined ? nothing : results(settings)}
      </div>`,
    mount,
  );
}

const mount = document.getElementById("lab") as HTMLElement;
mount.replaceChildren();
addEventListener("hashchange", () => {
  ({ draft, unknown } = draftOf(location.hash));
  check(0);
});
check(0);
