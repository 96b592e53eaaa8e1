import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { tempFolder } from "../../test/temp-folder.ts";
import { documentation } from "../doc-copies.mjs";
import { checkLinks } from "../site/check-links.mjs";
import { contents, PLAYGROUND } from "../site/contents.mjs";
import { pages } from "../site/pages.mjs";
import { repositoryOf } from "../site/repository.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));

describe("the contents of the site", () => {
  const listed = contents.flatMap(({ pages }) => pages);

  it("lists each guide once", () => {
    expect(listed).toEqual([...new Set(listed)]);
    const guides = documentation(root).filter(
      (path) => /^docs\/(adr\/)?[^/]+\.md$|^[A-Z_]+\.md$/.test(path) && path !== PLAYGROUND,
    );
    expect(guides.filter((path) => !listed.includes(path))).toEqual([]);
  });
});

describe("the pages of guides", () => {
  const sections = new Set(["Examples", "Project", "Decisions"]);
  const guides = contents.flatMap((section) => (sections.has(section.title) ? [] : section.pages));

  it("have a title, a description and keywords", () => {
    expect(guides.filter((path) => !pages.has(path))).toEqual([]);
    for (const [path, { description }] of pages)
      expect(description.length, path).toBeLessThanOrEqual(200);
  });
});

describe("checkLinks", () => {
  function faultsOf(html: string): string[] {
    const folder = tempFolder(onTestFinished);
    writeFileSync(join(folder, "page.html"), html);
    writeFileSync(join(folder, "other.html"), '<h2 id="here">Here</h2>');
    return checkLinks(folder);
  }

  it.each([
    '<a href="other.html">',
    '<a href="other.html#here">',
    '<a href="#top"><p id="top">',
    '<a href="https://example.org/">',
    '<img src="data:image/svg+xml,x">',
    '<use href="#icon-menu">',
    "<script>'<a href=\"gone.html\">'</script>",
  ])("accepts %s", (html) => {
    expect(faultsOf(html)).toEqual([]);
  });

  it.each([
    { html: '<a href="gone.html">', fault: "page.html: gone.html leads to no file of the site" },
    {
      html: '<script src="gone.js"></script>',
      fault: "page.html: gone.js leads to no file of the site",
    },
    {
      html: '<a href="../page.html">',
      fault: "page.html: ../page.html leads to no file of the site",
    },
    { html: '<a href="other.html#gone">', fault: "page.html: other.html#gone leads to no heading" },
    { html: '<a href="#gone">', fault: "page.html: #gone leads to no heading" },
  ])("reports $html", ({ html, fault }) => {
    expect(faultsOf(html)).toEqual([fault]);
  });
});

describe("repositoryOf", () => {
  const address = "https://github.com/holdfast/holdfast";
  it.each([
    { repository: undefined, url: undefined },
    { repository: { url: "" }, url: undefined },
    { repository: { type: "git", url: `git+${address}.git` }, url: address },
    { repository: { url: "git://github.com/holdfast/holdfast.git" }, url: address },
    { repository: { url: "ssh://git@github.com/holdfast/holdfast.git" }, url: address },
    { repository: `${address}/`, url: address },
    { repository: "github:holdfast/holdfast", url: address },
    { repository: "holdfast/holdfast", url: address },
  ])("reads $repository", ({ repository, url }) => {
    expect(repositoryOf({ repository })).toBe(url);
  });
});
