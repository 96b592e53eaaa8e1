import { KindRouter } from "typedoc";

/** Addresses of pages: guides by the names of their files, the API by kind. */
export class HoldfastRouter extends KindRouter {
  /**
   * @override
   * @param {import("typedoc").Reflection} reflection
   */
  getIdealBaseName(reflection) {
    if (!reflection.isDocument()) return super.getIdealBaseName(reflection);
    const path = `${reflection.frontmatter["path"]}`.replace(/\.md$/, "");
    return addressOf(path).toLowerCase();
  }
}

/** @param {string} path of a document, without its extension */
function addressOf(path) {
  if (path === "README") return "guides/overview";
  if (path === "packages/examples/README") return "examples/overview";
  const [, site] = /^docs\/site\/(.+)$/.exec(path) ?? [];
  const [, decision] = /^docs\/adr\/(.+)$/.exec(path) ?? [];
  const [, guide] = /^docs\/(.+)$/.exec(path) ?? [];
  const [, example] = /^packages\/examples\/(?:src\/)?(.+)$/.exec(path) ?? [];
  if (site) return site;
  if (decision) return `decisions/${decision.replace("README", "overview")}`;
  if (guide) return `guides/${guide}`;
  if (example) return `examples/${example.replace(/\/README$/, "")}`;
  return `project/${path.replace(/\/README$/, "").replaceAll("/", "-")}`;
}
