// The data of the search box: every guide with its sections, and every name of the API.
import { contents } from "./contents.mjs";
import { pages } from "./pages.mjs";

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} parent for a name of the API, what it belongs to
 * @property {string} url from the root of the site
 * @property {number} kind of TypeDoc, for its icon
 * @property {string} group Guides, Comparisons, Project, Decisions, or that of the API: Exports or Members
 * @property {string} words that it answers and may not contain
 * @property {[heading: string, anchor: string, text: string][]} sections the first one is before the first heading
 */

/**
 * @param {import("typedoc").Reflection} reflection
 * @param {string} url of its page
 * @param {string[]} anchors of the headings of a document, in their order
 * @returns {Entry}
 */
export function entryOf(reflection, url, anchors) {
  const { name, kind, parent } = reflection;
  if (!reflection.isDocument()) {
    const isExport = parent?.isProject() || parent?.kind === MODULE;
    const place = parent && !parent.isProject() ? parent.getFullName() : "";
    const summary = isExport ? plain(textOf(commentOf(reflection)?.summary)) : "";
    const group = isExport ? "Exports" : "Members";
    return { name, parent: place, url, kind, group, words: "", sections: [["", "", summary]] };
  }
  const path = `${reflection.frontmatter["path"]}`;
  const { title = "", keywords = "" } = pages.get(path) ?? {};
  const [intro = "", ...rest] = textOf(reflection.content)
    .replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "") // what is in code is no heading
    .split(/^(?=##+ )/m);
  const sections = rest.map((text, index) => {
    const [heading = "", ...lines] = text.split("\n");
    return [plain(heading.replace(/^#+/, "")), anchors[index] ?? "", plain(lines.join("\n"))];
  });
  const start = ["", "", plain(intro.replace(/^# .*/m, ""))];
  const group = groupOf(path);
  const all = /** @type {Entry["sections"]} */ ([start, ...sections]);
  return { name, parent: "", url, kind, group, words: `${title} ${keywords}`, sections: all };
}

const MODULE = 2;

function groupOf(path) {
  if (path.startsWith("docs/adr/")) return "Decisions";
  if (!pages.has(path)) return "Project";
  return beside.has(path) ? "Comparisons" : "Guides";
}

/** Guides for readers who know something else, and about programs to look at: others answer first. */
const beside = new Set(
  contents
    .filter(({ title }) => title === "Coming from" || title === "Examples")
    .flatMap((section) => section.pages),
);

function commentOf(model) {
  return model.comment ?? model.signatures?.[0]?.comment;
}

function textOf(parts = []) {
  return parts.map(({ text }) => text).join("");
}

/** Markdown without its marks. */
function plain(markdown) {
  return markdown
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/^\|[\s|:-]*$/gm, " ")
    .replaceAll(/\s*\|\s*/g, " ")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
