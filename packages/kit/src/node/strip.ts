import { escapeHtml } from "./live-page.ts";

/** What something is from an instant on, until the next span. */
export interface Span {
  /** In milliseconds since the epoch. */
  readonly at: number;
  /** The class of its color. */
  readonly look: string;
  /** In words. */
  readonly text: string;
}

/** The history of a page is bounded: of a process that crashes all the time, the older part goes first. */
const KEPT = 200;

/** The spans with one more, if it differs from the last one. */
export function withSpan(spans: readonly Span[], span: Span): readonly Span[] {
  const last = spans.at(-1);
  if (last?.look === span.look && last.text === span.text) return spans;
  const before = last?.at === span.at ? spans.slice(0, -1) : spans;
  return [...before, span].slice(-KEPT);
}

/** The part of the past that a page shows. */
interface Window {
  /** In milliseconds. */
  readonly length: number;
  readonly text: string;
}

const WINDOWS: readonly Window[] = [
  { length: 20_000, text: "20 seconds" },
  { length: 60_000, text: "minute" },
  { length: 300_000, text: "5 minutes" },
  { length: 900_000, text: "15 minutes" },
];
const LONGEST: Window = { length: 3_600_000, text: "hour" };

/** The shortest window that goes back to `start`, an hour at most. */
export function windowOf(start: number, now: number): Window {
  return WINDOWS.find(({ length }) => now - start <= length) ?? LONGEST;
}

/** Options for {@link strip}. Instants are milliseconds since the epoch. */
export interface StripOptions {
  readonly id: string;
  /** Its subject, for a screen reader. */
  readonly label: string;
  readonly spans: readonly Span[];
  readonly from: number;
  readonly to: number;
}

const WIDTH = 1_000;
/** The shortest span is still seen. */
const THINNEST = 2;

/** Spans side by side on a line of time, as SVG. */
export function strip({ id, label, spans, from, to }: StripOptions): string {
  const placeOf = (at: number): number => (Math.max(at - from, 0) / (to - from)) * WIDTH;
  const parts = spans.map(({ at, look, text }, index) => {
    const end = spans[index + 1]?.at ?? to;
    if (end < from) return "";
    const [x, width] = [placeOf(at), Math.max(placeOf(end) - placeOf(at), THINNEST)];
    const title = `${text}, since ${new Date(at).toISOString().slice(11, 23)} for ${((end - at) / 1_000).toFixed(3)} s`;
    return `<rect class="${escapeHtml(look)}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="1"><title>${escapeHtml(title)}</title></rect>`;
  });
  return `<svg class="strip" id="${escapeHtml(id)}" role="img" aria-label="${escapeHtml(label)}" viewBox="0 0 ${WIDTH} 1" preserveAspectRatio="none">${parts.join("")}</svg>`;
}
