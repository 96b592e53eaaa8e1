// Makes the site of TypeDoc: packages by their import paths, guides in reading order, and its theme.
import { appendFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Application, Converter, IndexEvent, PageEvent, Renderer } from "typedoc";
import { checkLinks } from "./check-links.mjs";
import { contents, GUIDES, PLAYGROUND, titles } from "./contents.mjs";
import { head } from "./head.mjs";
import { nameByImportPath } from "./import-paths.mjs";
import { buildPlayground } from "./playground.mjs";
import { HoldfastRouter } from "./router.mjs";
import { entryOf } from "./search-index.mjs";
import { HoldfastTheme } from "./theme.mjs";

/** @param {Application} app */
export function load(app) {
  app.renderer.defineTheme("holdfast", HoldfastTheme);
  app.renderer.defineRouter("holdfast", HoldfastRouter);

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const path = pathOf(document.name);
    const text = document.content.map((part) => part.text).join("");
    document.frontmatter["path"] = path;
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

  /** @type {Map<string, string[]>} the anchors of the headings of a page, by its address */
  const anchors = new Map();
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = head(page, finished(page.contents ?? ""));
    const headings = page.pageSections.flatMap((section) => section.headings);
    anchors.set(
      page.url,
      headings.filter(({ level = 2 }) => level > 1).map(({ link }) => link),
    );
  });

  // Its own index stays empty: the search box has another one.
  /** @type {import("typedoc").Reflection[]} */
  const found = [];
  app.renderer.on(IndexEvent.PREPARE_INDEX, ({ searchResults }) => {
    found.push(...searchResults.splice(0));
  });

  app.renderer.on(Renderer.EVENT_END, ({ outputDirectory }) => {
    for (const name of readdirSync(join(outputDirectory, "media")).filter((one) => CODE.test(one)))
      renameSync(
        join(outputDirectory, "media", name),
        join(outputDirectory, "media", `${name}.txt`),
      );
    improveSearch(app, join(outputDirectory, "assets/main.js"));
    const entries = found.map((one) => {
      const url = app.renderer.router?.getFullUrl(one) ?? "";
      return entryOf(one, url, anchors.get(url) ?? []);
    });
    const script = readFileSync(new URL("../../docs/site/search.js", import.meta.url), "utf8");
    appendFileSync(
      join(outputDirectory, "assets/search.js"),
      `\nconst holdfastIndex = ${JSON.stringify(entries)};\n${script}`,
    );
    for (const fault of checkLinks(outputDirectory)) app.logger.error(/** @type {any} */ (fault));
  });
}

/** Files that a browser would save rather than show. */
const CODE = /\.([cm]?[jt]s|ya?ml|md|html)$/;

const ANCHOR = /<a [^>]*class="tsd-anchor-icon">[\s\S]*?<\/a>/g;

/** What TypeDoc's script does with the search box, and what it should do. Its code has no other place to say so. */
const SEARCH = [
  // docs/site/search.js finds, at once.
  { from: 'n.addEventListener("input",fe(()=>{at(r,n,s,e)},200)),', to: "" },
  // Enter opens the first hit, unless another one is chosen.
  {
    from: 'f?.querySelector("a")?.click()',
    to: '(f||r.firstElementChild)?.querySelector("a")?.click()',
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
