// Makes the site of TypeDoc: packages by their import paths, guides in reading order, and its theme.
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { Application, Converter, PageEvent, Renderer } from "typedoc";
import { checkLinks } from "./check-links.mjs";
import { contents, PLAYGROUND, titles } from "./contents.mjs";
import { nameByImportPath } from "./import-paths.mjs";
import { buildPlayground } from "./playground.mjs";
import { HoldfastTheme } from "./theme.mjs";

/** @param {Application} app */
export function load(app) {
  app.renderer.defineTheme("holdfast", HoldfastTheme);

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const path = pathOf(document.name);
    const text = document.content.map((part) => part.text).join("");
    document.frontmatter["path"] = path;
    document.frontmatter["group"] = path.startsWith("docs/adr/") ? "Decisions" : "Guides";
    document.name = titles.get(path) ?? /^# (.+)$/m.exec(text)?.[1] ?? document.name;
  });

  // After links are resolved, before groups are made.
  app.on(Application.EVENT_PROJECT_REVIVE, (project) => nameByImportPath(project), -50);

  app.renderer.on(Renderer.EVENT_BEGIN, ({ project, outputDirectory }) => {
    app.renderer.postRenderAsyncJobs.push(() => buildPlayground(outputDirectory));
    const pages = [PLAYGROUND, ...contents.flatMap((section) => section.pages)];
    const paths = (project.documents ?? []).map(({ frontmatter }) => `${frontmatter["path"]}`);
    for (const path of paths.filter((one) => !pages.includes(one)))
      app.logger.error(/** @type {any} */ (`${path}: list it in tools/site/contents.mjs`));
  });

  app.renderer.on(PageEvent.END, (page) => {
    page.contents = finished(page.contents ?? "");
  });

  app.renderer.on(Renderer.EVENT_END, ({ outputDirectory }) => {
    for (const name of readdirSync(join(outputDirectory, "media")).filter((one) => CODE.test(one)))
      renameSync(
        join(outputDirectory, "media", name),
        join(outputDirectory, "media", `${name}.txt`),
      );
    for (const fault of checkLinks(outputDirectory)) app.logger.error(/** @type {any} */ (fault));
  });
}

/** Files that a browser would save rather than show. */
const CODE = /\.([cm]?[jt]s|ya?ml|md)$/;

const ANCHOR = /<a [^>]*class="tsd-anchor-icon">[\s\S]*?<\/a>/g;

/** TypeDoc names a document by its path, without the extension. */
function pathOf(name) {
  return name.endsWith(".md") ? name : `${name}.md`;
}

/** What no template of TypeDoc lets a theme say. */
function finished(html) {
  return html
    .replaceAll(/href="[^"]*assets\/icons\.svg#/g, 'href="#') // the symbols are in each page; a file may not load them
    .replaceAll(/<summary[\s\S]*?<\/summary>/g, (title) => title.replace(ANCHOR, "")) // no button holds a link
    .replaceAll(/(href="[^"]*media\/[^"]+\.(?:[cm]?[jt]s|ya?ml|md))"/g, '$1.txt"')
    .replace('<div class="col-content">', '<main class="col-content" id="content" tabindex="-1">')
    .replace(
      /<\/div>\s*<div class="col-sidebar">/,
      '</main><div class="col-sidebar" id="sidebar">',
    );
}
