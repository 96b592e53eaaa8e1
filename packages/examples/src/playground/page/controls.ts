import { html, nothing, type TemplateResult } from "lit-html";
import { type Draft, type Field, PRESETS, START } from "../draft.ts";
import type { Problems } from "../settings.ts";
import { JITTERS, type JitterName, STRATEGIES, type StrategyName } from "../shape.ts";

/** Values of the controls, and the receiver of their changes. */
export interface ControlsModel {
  readonly draft: Draft;
  readonly problems: Problems;
  readonly change: (change: Partial<Draft>) => void;
  readonly preset: (index: number) => void;
}

/** A number with a slider; `curve` bends the slider, so that small values get room. */
interface Slider {
  readonly label: string;
  readonly hint: string;
  readonly least: number;
  readonly most: number;
  readonly curve: "linear" | "logarithmic";
  /** Digits after the point that the slider sets. */
  readonly digits: number;
  /** Whether the right end of the slider means no limit. */
  readonly endless?: boolean;
}

const SLIDERS: Partial<Record<Field, Slider>> = {
  duration: {
    label: "First delay",
    hint: "duration, in ms",
    least: 1,
    most: 60_000,
    curve: "logarithmic",
    digits: 0,
  },
  factor: { label: "Growth", hint: "factor", least: 1, most: 5, curve: "linear", digits: 1 },
  share: {
    label: "Share of jitter",
    hint: "jitter",
    least: 0,
    most: 1,
    curve: "linear",
    digits: 2,
  },
  cap: {
    label: "Longest delay",
    hint: "cap, in ms, or Infinity",
    least: 100,
    most: 600_000,
    curve: "logarithmic",
    digits: 0,
    endless: true,
  },
  steps: {
    label: "Steps",
    hint: "steps, or Infinity",
    least: 0,
    most: 10,
    curve: "linear",
    digits: 0,
    endless: true,
  },
  clients: {
    label: "Clients",
    hint: "1 to 2,000",
    least: 1,
    most: 2_000,
    curve: "logarithmic",
    digits: 0,
  },
  outage: {
    label: "Outage",
    hint: "in seconds, 1 to 60",
    least: 1,
    most: 60,
    curve: "linear",
    digits: 0,
  },
};

/** Positions of a slider. */
const POSITIONS = 200;

export function shapeControls(model: ControlsModel): TemplateResult {
  const { draft, problems, change } = model;
  const strategy = STRATEGIES[draft.strategy as StrategyName] ?? STRATEGIES.exponential;
  const uses = (field: Field): boolean =>
    strategy.fields.includes(field) &&
    (field !== "share" || draft.jitter === "share" || draft.jitter === "symmetric");
  const sliders = (["duration", "factor", "share", "cap", "steps"] as const).filter(uses);
  return html`<fieldset>
    <legend>Delays</legend>
    <div class="field">
      <label for="preset">Preset</label>
      <select id="preset" @change=${(event: Event) => model.preset(numberIn(event))}>
        <option value="" selected>choose…</option>
        ${PRESETS.map(({ title }, index) => html`<option value=${index}>${title}</option>`)}
      </select>
    </div>
    ${choice("strategy", "Strategy", titlesOf(STRATEGIES), model)}
    ${uses("jitter") ? choice("jitter", "Jitter", titlesOf(JITTERS, strategy.jitters), model) : nothing}
    ${sliders.map((field) => slider(field, model))}
    <div class="field">
      <label for="seed">Seed</label>
      <input id="seed" type="text" inputmode="numeric" .value=${draft.seed} aria-invalid=${problems.seed ? "true" : "false"} aria-describedby="seed-note"
        @input=${(event: Event) => change({ seed: textOf(event) })} />
      <button type="button" @click=${() => change({ seed: next(draft.seed) })}>Next</button>
      ${note("seed", "of the randomness", problems)}
    </div>
  </fieldset>`;
}

export function herdControls(model: ControlsModel): TemplateResult {
  return html`<fieldset>
    <legend>Outage</legend>
    ${slider("clients", model)} ${slider("outage", model)}
  </fieldset>`;
}

function titlesOf(
  all: Readonly<Record<string, { title: string }>>,
  names: readonly string[] = Object.keys(all),
): [string, string][] {
  return names.map((name) => [name, all[name as JitterName]?.title ?? name]);
}

function choice(
  field: Field,
  label: string,
  titles: [string, string][],
  model: ControlsModel,
): TemplateResult {
  const { draft, problems, change } = model;
  return html`<div class="field">
    <label for=${field}>${label}</label>
    <select id=${field} aria-invalid=${problems[field] ? "true" : "false"} aria-describedby="${field}-note"
      @change=${(event: Event) => change({ [field]: textOf(event) })}>
      ${titles.map(([name, title]) => html`<option value=${name} .selected=${draft[field] === name}>${title}</option>`)}
      ${titles.some(([name]) => name === draft[field]) ? nothing : html`<option value=${draft[field]} .selected=${true}>not known</option>`}
    </select>
    ${note(field, "", problems)}
  </div>`;
}

function slider(field: Field, { draft, problems, change }: ControlsModel): TemplateResult {
  const spec = SLIDERS[field] as Slider;
  const text = draft[field];
  const position = positionOf(spec, Number(text.replaceAll("_", "")));
  return html`<div class="field">
    <label for=${field}>${spec.label}</label>
    <input type="range" min="0" max=${POSITIONS} step="1" .value=${`${position}`} aria-label="${spec.label}, slider" aria-valuetext=${text}
      @input=${(event: Event) => change({ [field]: valueAt(spec, numberIn(event)) })} />
    <input id=${field} type="text" inputmode="decimal" .value=${text} aria-invalid=${problems[field] ? "true" : "false"} aria-describedby="${field}-note"
      @input=${(event: Event) => change({ [field]: textOf(event) })} />
    ${note(field, spec.hint, problems)}
  </div>`;
}

function note(field: Field, hint: string, problems: Problems): TemplateResult {
  const problem = problems[field];
  return html`<small id="${field}-note" class=${problem ? "problem" : "hint"}>${problem ?? hint}</small>`;
}

function positionOf({ least, most, curve, endless }: Slider, value: number): number {
  if (Number.isNaN(value)) return 0;
  const end = endless ? POSITIONS - 1 : POSITIONS;
  if (value === Number.POSITIVE_INFINITY) return POSITIONS;
  const within = Math.min(Math.max(value, least), most);
  const share =
    curve === "linear"
      ? (within - least) / (most - least)
      : Math.log(within / least) / Math.log(most / least);
  return Math.round(share * end);
}

function valueAt({ least, most, curve, digits, endless }: Slider, position: number): string {
  if (endless && position >= POSITIONS) return "Infinity";
  const share = position / (endless ? POSITIONS - 1 : POSITIONS);
  const value =
    curve === "linear" ? least + share * (most - least) : least * (most / least) ** share;
  // Two digits are as fine as a hand.
  const rounded = curve === "linear" ? value : Number(value.toPrecision(2));
  return `${Number(Math.min(rounded, most).toFixed(digits))}`;
}

function textOf(event: Event): string {
  return (event.target as HTMLInputElement | HTMLSelectElement).value;
}

function numberIn(event: Event): number {
  return Number(textOf(event));
}

function next(seed: string): string {
  const value = Number(seed);
  return Number.isInteger(value) && value >= 0 && value < 2 ** 31 - 1 ? `${value + 1}` : START.seed;
}
