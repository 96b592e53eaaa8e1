// Makes the site of TypeDoc: packages by their import paths, guides in reading order, and its theme.
import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Application, Converter, IndexEvent, PageEvent, Renderer } from "typedoc";
import { checkLinks } from "./check-links.mjs";
import { contents, GUIDES, PLAYGROUND, titles } from "./contents.mjs";
import { head } from "./head.mjs";
import { nameByImportPath } from "./import-paths.mjs";
import { pages } from "./pages.mjs";
import { buildPlayground } from "./playground.mjs";
import { HoldfastRouter } from "./router.mjs";
import { HoldfastTheme } from "./theme.mjs";

/** @param {Application} app */
export function load(app) {
  app.renderer.defineTheme("holdfast", HoldfastTheme);
  app.renderer.defineRouter("holdfast", HoldfastRouter);

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const path = pathOf(document.name);
    const text = document.content.map((part) => part.text).join("");
    document.frontmatter["path"] = path;
    document.frontmatter["group"] = groupOf(path);
    document.name = titles.get(path) ?? /^# (.+)$/m.exec(text)?.[1] ?? document.name;
  });

  // After links are resolved, before groups are made.
  app.on(Application.EVENT_PROJECT_REVIVE, (project) => nameByImportPath(project), -50);

  app.renderer.on(Renderer.EVENT_BEGIN, ({ project, outputDirectory }) => {
    app.renderer.postRenderAsyncJobs.push(() => buildPlayground(outputDirectory));
    const listed = [PLAYGROUND, GUIDES, ...contents.flatMap((section) => section.pages)];
    const paths = (project.documents ?? []).map(({ frontmatter }) => `${frontmatter["path"]}`);
    for (const path of paths.filter((one) => !listed.includes(one)))
      app.logger.error(/** @type {any} */ (`${path}: list it in tools/site/contents.mjs`));
  });

  app.renderer.on(PageEvent.END, (page) => {
    page.contents = head(page, finished(page.contents ?? ""));
  });

  // A guide is found by its title for search engines, its headings and its keywords.
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    Object.assign(event.searchFieldWeights, { keywords: 30, headings: 4 });
    for (const [index, result] of event.searchResults.entries()) {
      if (!result.isDocument()) continue;
      const { title, keywords } = pages.get(`${result.frontmatter["path"]}`) ?? {};
      const text = result.content.map((part) => part.text).join("");
      const headings = [...text.matchAll(/^##+ (.+)$/gm)].map(([, heading]) => heading).join(" ");
      event.searchFields[index] = { keywords: `${title ?? ""} ${keywords ?? ""}`, headings };
    }
  });

  app.renderer.on(Renderer.EVENT_END, ({ outputDirectory }) => {
    for (const name of readdirSync(join(outputDirectory, "media")).filter((one) => CODE.test(one)))
      renameSync(
        join(outputDirectory, "media", name),
        join(outputDirectory, "media", `${name}.txt`),
      );
    improveSearch(app, join(outputDirectory, "assets/main.js"));
    for (const fault of checkLinks(outputDirectory)) app.logger.error(/** @type {any} */ (fault));
  });
}

/** Files that a browser would save rather than show. */
const CODE = /\.([cm]?[jt]s|ya?ml|md|html)$/;

const ANCHOR = /<a [^>]*class="tsd-anchor-icon">[\s\S]*?<\/a>/g;

/** What TypeDoc's search does with a query, and what it should do. Its code has no other place to say so. */
const SEARCH = [
  {
    // "wait for a port" found every name with an a in it, "dead letters" the deadlocks; a colon ended in an error.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is TypeDoc's code
    from: 'i.split(" ").map(c=>c.length?`*${c}*`:"")',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
    to: 'i.split(/[\\s:^~*]+/).map(c=>c.replace(/^[+-]+/,"")).filter(c=>c&&!/^(an?|at|by|for|how|i|in|is|my|of|on|or|the|to|with|your)$/i.test(c)).map(c=>`${c}^4 *${c}*`)',
  },
  {
    // A property with exactly this name, such as `deadline`, stood above the guide about deadlines.
    from: "l.name.toLowerCase().startsWith(i.toLowerCase())&&",
    to: "![1024,2048,262144].includes(l.kind)&&l.name.toLowerCase().startsWith(i.toLowerCase())&&",
  },
];

function improveSearch(app, file) {
  let text = readFileSync(file, "utf8");
  for (const { from, to } of SEARCH) {
    if (!text.includes(from))
      app.logger.error(/** @type {any} */ (`TypeDoc's search has changed: ${from} is gone`));
    text = text.replace(from, () => to);
  }
  writeFileSync(file, text);
}

/** The search ranks guides first. */
function groupOf(path) {
  if (path.startsWith("docs/adr/")) return "Decisions";
  return pages.has(path) ? "Guides" : "Project";
}

/** TypeDoc names a document by its path, without the extension. */
function pathOf(name) {
  return name.endsWith(".md") ? name : `${name}.md`;
}

/** What no template of TypeDoc lets a theme say. */
function finished(html) {
  return html
    .replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#') // the symbols are in each page; a file may not load them
    .replaceAll(/<summary[\s\S]*?<\/summary>/g, (title) => title.replace(ANCHOR, "")) // no button holds a link
    .replaceAll(/(href="[^"]*media\/[^"]+\.(?:[cm]?[jt]s|ya?ml|md|html))"/g, '$1.txt"')
    .replace('<div class="col-content">', '<main class="col-content" id="content" tabindex="-1">')
    .replace(
      /<\/div>\s*<div class="col-sidebar">/,
      '</main><div class="col-sidebar" id="sidebar">',
    );
}
