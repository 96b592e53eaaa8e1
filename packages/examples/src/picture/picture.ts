/** A drawing. Coordinates are pixels from the upper left corner. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Description for screen readers. */
  readonly title: string;
  /** SVG elements from back to front, with the classes of {@link picture}. */
  readonly elements: readonly string[];
}

/** Widths of pictures, in pixels: for a page, and for a phone. */
export const WIDE = 760;
export const NARROW = 360;

const STYLE = `
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font: 13px system-ui, -apple-system, "Segoe UI", sans-serif }
  .quiet { fill: #59636e }
  .code { font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: pre }
  .name { font-weight: 600 }
  .plain { font-weight: 400 }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .grid { stroke: #d8dee4 }
  .blue { fill: #0969da }
  .orange { fill: #b35900 }
  .grey { fill: #b6bec7 }
  .band { fill-opacity: 0.24 }
  .line { fill: none; stroke-width: 2.5 }
  .blue.line { stroke: #0969da }
  .orange.line { stroke: #b35900 }
  .ink.line { stroke: #59636e }
  .dashed { stroke-dasharray: 6 4; stroke-width: 1.5 }
  .limit { stroke: #1f2328; stroke-dasharray: 2 3 }
  .dot { stroke: #ffffff; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .grid { stroke: #2a313c }
    .blue { fill: #4493f8 }
    .orange { fill: #f0a45d }
    .grey { fill: #4b535d }
    .line { fill: none }
    .ink.line { stroke: #9198a1 }
    .blue.line { stroke: #4493f8 }
    .orange.line { stroke: #f0a45d }
    .limit { stroke: #f0f6fc }
    .dot { stroke: #0d1117 }
  }`;

/** Draws an SVG on a card that follows the light or dark theme of the reader. */
export function picture({ width, height, title, elements }: Picture): string {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${title}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...elements,
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}
