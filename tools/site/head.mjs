import { pages } from "./pages.mjs";

const SITE = "Retries, work queues and operators for Node.js, testable without waiting";
const FRONT =
  "Retry with exponential backoff, poll, run reconcile loops, elect a leader and write Kubernetes operators in TypeScript. Waits abort at once; tests run on a fake clock.";

/**
 * Gives a page a title and a description of its own, for search engines and link previews.
 *
 * @param {import("typedoc").PageEvent} page
 * @param {string} html
 */
export function head({ url, model }, html) {
  const { title, description } = factsOf(url, /** @type {any} */ (model));
  const tags = [
    ["name", "description", description],
    ["property", "og:site_name", "Holdfast"],
    ["property", "og:type", url === "index.html" ? "website" : "article"],
    ["property", "og:title", title],
    ["property", "og:description", description],
  ].map(([key, name, text]) => `<meta ${key}="${name}" content="${escaped(text ?? "")}"/>`);
  return html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escaped(title)}</title>`)
    .replace(/<meta name="description"[^>]*>/, () => tags.join(""));
}

function factsOf(url, model) {
  if (url === "index.html") return { title: `Holdfast: ${SITE}`, description: FRONT };
  const guide = model.isDocument() ? pages.get(`${model.frontmatter["path"]}`) : undefined;
  if (guide) return { title: `${guide.title} | Holdfast`, description: guide.description };
  if (model.isDocument())
    return { title: `${model.name} | Holdfast`, description: summaryOf(textOf(model.content)) };
  if (url === "hierarchy.html")
    return { title: "Class hierarchy | Holdfast", description: "The classes of Holdfast." };
  if (model.isProject())
    return { title: "API of Holdfast", description: "Every entry point of the Holdfast packages." };
  const summary = summaryOf(textOf(commentOf(model)?.summary));
  const place = model.parent?.isProject() === false ? ` (${model.parent.name})` : "";
  return {
    title: `${model.name}${place} | Holdfast`,
    description: summary || `Reference of ${model.name} in Holdfast.`,
  };
}

function commentOf(model) {
  return model.comment ?? model.signatures?.[0]?.comment;
}

function textOf(parts = []) {
  return parts.map(({ text }) => text).join("");
}

const LONGEST = 300;

/** The first paragraph of prose, without its marks. */
function summaryOf(markdown) {
  const paragraphs = markdown.replaceAll(/```[\s\S]*?```/g, "").split(/\n\s*\n/);
  const prose = paragraphs.find((one) => /^[A-Z`[*]/.test(one.trim())) ?? "";
  const text = prose
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).trimEnd()}…`;
}

function escaped(text) {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
