// Every link of the site leads to a file of the site, and to a heading that is there. What stands on another
// server is not asked for.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/**
 * @param {string} folder of the site
 * @returns {string[]} what is wrong, a line each
 */
export function checkLinks(folder) {
  const pages = new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".html"))
      .map((path) => [path, readPage(join(folder, path))]),
  );
  return [...pages].flatMap(([page, { links }]) =>
    links.flatMap((link) => {
      const [path = "", anchor] = link.split(/[?#]/);
      const target = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path)));
      const file = join(folder, target);
      if (!existsSync(file) || statSync(file).isDirectory())
        return [`${page}: ${link} leads to no file of the site`];
      const ids = pages.get(target)?.ids;
      if (anchor && ids && !ids.has(decodeURIComponent(anchor)))
        return [`${page}: ${link} leads to no heading`];
      return [];
    }),
  );
}

function readPage(file) {
  const html = readFileSync(file, "utf8").replace(/<script[\s\S]*?<\/script>/g, (script) =>
    script.slice(0, script.indexOf(">") + 1),
  );
  const values = (pattern) => [...html.matchAll(pattern)].map(([, value = ""]) => decoded(value));
  const links = values(/\s(?:href|src)="([^"]*)"/g);
  return {
    ids: new Set(values(/\sid="([^"]*)"/g)),
    links: links.filter((link) => !/^[a-z][a-z+.-]*:|^#icon-|^#?$/.test(link)),
  };
}

function decoded(text) {
  return text
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}
