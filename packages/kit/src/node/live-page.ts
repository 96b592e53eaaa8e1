/** Where a page gets its data from. */
export interface SnapshotSource<Snapshot> {
  snapshot(): Snapshot;
  /** Calls `listener` after each change, until the subscription is disposed. */
  onChange(listener: () => void): Disposable;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Text in HTML, shown as it is; a dash for none. */
export function escapeHtml(value: string | number | undefined): string {
  return String(value ?? "–").replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

/** What {@link livePage} shows. */
interface LivePage {
  readonly title: string;
  /** The instant of its content, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTML of `main`. */
  readonly main: string;
}

/** A page with the state of this moment in it, which {@link SCRIPT} keeps up to date. */
export function livePage({ title, at, main }: LivePage): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<p id="connection" role="status">as of ${new Date(at).toISOString()}</p>
<main>${main}</main>
</body>
</html>
`;
}

/**
 * The script of the page. Each event is the new content of `main`; rows that stay the same keep focus and selection. A button
 * with `data-post` posts to that path, with the token of the address, after a yes to `data-confirm`.
 */
export const SCRIPT = `const main = document.querySelector("main");
const connection = document.querySelector("#connection");
const SILENCE = 3000;
let silence;
let last = "";
const idsOf = (root) => [...root.querySelectorAll("[id]")].map(({ id }) => id).join(" ");
function show(html) {
  if (html === last) return;
  last = html;
  const next = document.createElement("main");
  next.innerHTML = html;
  if (idsOf(next) !== idsOf(main)) return main.replaceChildren(...next.childNodes);
  for (const part of next.querySelectorAll("[id]")) {
    const old = document.getElementById(part.id);
    if (old.outerHTML !== part.outerHTML) old.replaceWith(part);
  }
}
function say(state) {
  connection.textContent = state;
  main.classList.toggle("stale", state !== "live");
}
const source = new EventSource("/view" + location.search);
source.onmessage = ({ data }) => {
  clearTimeout(silence);
  silence = setTimeout(() => say("stalled, no data"), SILENCE);
  show(JSON.parse(data));
  say("live");
};
source.onerror = () => {
  clearTimeout(silence);
  say("disconnected, retrying");
};
main.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-post]");
  if (button === null || !confirm(button.dataset.confirm)) return;
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const headers = { authorization: "Bearer " + token };
  await fetch(button.dataset.post, { method: "POST", headers }).catch(source.onerror);
});
`;

/** The style of all live pages. */
export const STYLE = `:root { font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; }
header p { margin: 0 0 1rem; opacity: 0.75; }
#connection { float: right; margin: 0; opacity: 0.75; }
main.stale { opacity: 0.6; }
main { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
td { overflow-wrap: anywhere; }
thead th { font-weight: 500; opacity: 0.75; white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; }
progress { width: 4rem; }
ol { list-style: none; padding: 0; max-height: 20rem; overflow-y: auto; }
time { font-variant-numeric: tabular-nums; opacity: 0.75; }
`;
