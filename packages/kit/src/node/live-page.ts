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
 * The script of the page. Each event is the new content of `main`. What is alike stays, with its focus, selection and scroll
 * position. A button with `data-post` posts to that path, with the token of the address, after a yes to `data-confirm`.
 */
export const SCRIPT = `const main = document.querySelector("main");
const connection = document.querySelector("#connection");
const SILENCE = 3000;
let silence;
let last = "";
const isLike = (one, other) => one?.nodeName === other.nodeName && one.id === other.id;
function copyAttributes(old, next) {
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes)
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
}
function follow(old, next) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  copyAttributes(old, next);
  const wanted = new Set([...next.children].map(({ id }) => id));
  for (const child of [...old.children]) if (!wanted.has(child.id)) child.remove();
  let at = old.firstChild;
  for (const child of [...next.childNodes]) {
    const known = isLike(at, child) ? at : [...old.children].find((one) => one.id && isLike(one, child));
    while (known && at !== known && !at.id) [at] = [at.nextSibling, at.remove()];
    if (at !== known || !known) at = old.insertBefore(known ?? child, at);
    if (known) follow(known, child);
    at = at.nextSibling;
  }
  while (at) [at] = [at.nextSibling, at.remove()];
}
function show(html) {
  if (html === last) return;
  last = html;
  const next = document.createElement("main");
  next.innerHTML = html;
  follow(main, next);
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
  const { post, confirm: question } = target.closest("button:not([aria-disabled=true])")?.dataset ?? {};
  if (!post || (question && !confirm(question))) return;
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const headers = { authorization: "Bearer " + token };
  await fetch(post, { method: "POST", headers }).catch(source.onerror);
});
`;

/** The style of all live pages. */
export const STYLE = `:root { font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; }
body { max-width: 72rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.2rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; }
header p { margin: 0 0 1rem; opacity: 0.75; }
#connection { margin: 0; text-align: right; opacity: 0.75; }
main.stale { filter: grayscale(1); }
main { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 0.3rem 0.6rem; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); }
td { overflow-wrap: anywhere; }
thead th { font-weight: 500; opacity: 0.75; white-space: nowrap; }
.number { font-variant-numeric: tabular-nums; }
button { font: inherit; padding: 0.2rem 0.7rem; }
button[aria-disabled="true"] { opacity: 0.4; }
rect { fill: var(--look); }
.key { margin-right: 0.7rem; white-space: nowrap; }
.key::before { content: ""; display: inline-block; width: 0.8rem; height: 0.8rem; margin-right: 0.3rem; vertical-align: -0.05rem; background: var(--look); }
.strip { display: block; width: 100%; height: 1.5rem; background: color-mix(in srgb, currentcolor 7%, transparent); }
ol { list-style: none; padding: 0; max-height: 20rem; overflow-y: auto; }
time { font-variant-numeric: tabular-nums; opacity: 0.75; }
`;
