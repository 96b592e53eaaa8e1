// The theme: TypeDoc's own, with a header of ours, a landing page, a sidebar in reading order, options as
// tables, and links to the previous and the next guide. docs/site/site.css says how it looks.
import { DefaultTheme, DefaultThemeRenderContext, JSX, ReflectionKind } from "typedoc";
import { contents, GUIDES, PLAYGROUND } from "./contents.mjs";
import { optionsTable } from "./options-table.mjs";
import { pages } from "./pages.mjs";
import { repository } from "./repository.mjs";

const h = JSX.createElement;

/** @typedef {import("typedoc").ProjectReflection} Project */

/** Kinds from the most to the least asked for. */
const ORDER = [
  ReflectionKind.Function,
  ReflectionKind.Class,
  ReflectionKind.Variable,
  ReflectionKind.Interface,
  ReflectionKind.TypeAlias,
];

export class HoldfastTheme extends DefaultTheme {
  /** @override */
  ContextClass = HoldfastContext;

  /**
   * Guides by section, then each package with its names and its further entry points.
   *
   * @override
   * @param {Project} project
   */
  buildNavigation(project) {
    const page = (document) => ({ text: document.name, path: this.router.getFullUrl(document) });
    const guides = contents.map(({ title, pages }) => ({
      text: title,
      children: documentsOf(project, pages).map(page),
    }));
    const modules = project.children ?? [];
    const packages = modules.filter(({ name }) => name.split("/").length === 2);
    return [
      ...documentsOf(project, [PLAYGROUND]).map(page),
      ...guides,
      ...packages.map((pack) => ({
        text: pack.name,
        class: "package",
        children: [
          ...this.#names(pack),
          ...modules
            .filter(({ name }) => name.startsWith(`${pack.name}/`))
            .map((entry) => ({ text: entry.name, children: this.#names(entry) })),
        ],
      })),
    ];
  }

  #entry(reflection) {
    const { name, kind } = reflection;
    return { text: name, path: this.router.getFullUrl(reflection), kind };
  }

  /** A page of its own for the entry point: a title that opens a list cannot be a link too. */
  #names(module) {
    const names = [...(module.children ?? [])].sort(
      (a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name),
    );
    return [
      { text: "Overview", path: this.router.getFullUrl(module) },
      ...names.map((child) => this.#entry(child)),
    ];
  }
}

/** A text whose names stand in backticks. */
function withCode(text = "") {
  return text.split("`").map((part, index) => (index % 2 === 1 ? h("code", null, part) : part));
}

function rank({ kind }) {
  const index = ORDER.indexOf(kind);
  return index < 0 ? ORDER.length : index;
}

/**
 * @param {Project} project
 * @param {string[]} paths
 */
function documentsOf(project, paths) {
  return paths.flatMap(
    (path) => project.documents?.filter(({ frontmatter }) => frontmatter["path"] === path) ?? [],
  );
}

class HoldfastContext extends DefaultThemeRenderContext {
  constructor(router, theme, page, options) {
    super(router, theme, page, options);
    const { defaultLayout, documentTemplate, moduleReflection, typeDetailsIfUseful } = this;

    this.defaultLayout = (template, event) => {
      const html = defaultLayout(template, event);
      const props = /** @type {{ class: string }} */ (html.props);
      if (event.url === "index.html") props.class += " landing";
      if (pathOf(event.model) === PLAYGROUND) props.class += " playground";
      return html;
    };

    this.documentTemplate = (event) =>
      h(
        JSX.Fragment,
        null,
        documentTemplate(event),
        pathOf(event.model) === GUIDES && this.#guides(),
        this.#pager(event),
        pathOf(event.model) === PLAYGROUND && this.#script("assets/playground.js"),
      );

    // What TypeDoc writes below a parameter: its options as a table.
    this.typeDetailsIfUseful = (reflection, type) => {
      const isParameter = reflection.kindOf(ReflectionKind.Parameter);
      const table = isParameter && type && optionsTable(this, reflection, type);
      return table || typeDetailsIfUseful(reflection, type);
    };

    // The overview of the API lists entry points; guides have the sidebar.
    this.moduleReflection = (module) =>
      module.isProject() ? this.#entryPoints(module) : moduleReflection(module);

    this.toolbar = () => this.#toolbar();
    this.header = (event) => this.#header(event);
    this.breadcrumbs = (model) => this.#breadcrumbs(model);
    this.pageSidebar = (event) => {
      // The title stands above the page already.
      for (const section of event.pageSections)
        section.headings = section.headings.filter(({ level }) => level !== 1);
      return this.pageNavigation(event);
    };
    this.sidebar = () =>
      h(JSX.Fragment, null, this.#menuLinks(), this.navigation(), this.settings());
    this.navigation = () =>
      h(
        "nav",
        { class: "tsd-navigation", "aria-label": "Site" },
        h(
          "ul",
          { class: "tsd-small-nested-navigation", id: "tsd-nav-container" },
          h("li", null, "Loading…"),
        ),
      );
    this.footer = () => h("footer", null, h("p", null, `Holdfast ${this.#version}. Apache-2.0.`));
  }

  #script(path) {
    return h("script", { defer: true, src: this.relativeURL(path) });
  }

  get #project() {
    return this.page.project;
  }

  get #version() {
    return this.#project.packageVersion ?? "";
  }

  /** The links of the header; the last one only if there is a repository. */
  #links() {
    const to = (path) => documentsOf(this.#project, [path]).map((one) => this.urlTo(one))[0];
    return [
      { label: "Guides", href: to(GUIDES) },
      { label: "API", href: this.relativeURL("modules.html") },
      { label: "Playground", href: to(PLAYGROUND) },
      { label: "Changelog", href: to("CHANGELOG.md") },
      { label: "Source", href: repository },
    ].filter(({ href }) => href !== undefined);
  }

  /** The links of the header, where it has no room for them. */
  #menuLinks() {
    return h(
      "nav",
      { id: "tsd-sidebar-links", class: "tsd-navigation", "aria-label": "Main" },
      this.#links().map(({ label, href }) => h("a", { href, class: "tsd-nav-link" }, label)),
    );
  }

  #toolbar() {
    const links = this.#links();
    return h(
      "header",
      { class: "tsd-page-toolbar" },
      h("a", { class: "skip", href: "#content" }, "Skip to content"),
      h(
        "div",
        { class: "tsd-toolbar-contents container" },
        h(
          "a",
          { href: this.relativeURL("index.html"), class: "title" },
          h("img", { src: this.relativeURL("assets/favicon.svg"), alt: "", width: 22, height: 22 }),
          "Holdfast",
          this.#version && h("small", null, this.#version),
        ),
        h(
          "nav",
          { id: "tsd-toolbar-links", "aria-label": "Main" },
          links.map(({ label, href }) => h("a", { href }, label)),
        ),
        h(
          "button",
          { id: "tsd-search-trigger", type: "button", class: "tsd-widget" },
          this.icons.search(),
          h("span", null, "Search"),
          h("kbd", { "aria-hidden": "true" }, "/"),
        ),
        this.#search(),
        h(
          "button",
          {
            id: "menu",
            type: "button",
            class: "tsd-widget",
            "aria-label": "Menu",
            "aria-expanded": "false",
            "aria-controls": "sidebar",
          },
          this.icons.menu(),
        ),
      ),
    );
  }

  /** The elements that TypeDoc's script looks for. */
  #search() {
    return h(
      "dialog",
      { id: "tsd-search", "aria-label": "Search" },
      h("input", {
        role: "combobox",
        id: "tsd-search-input",
        "aria-controls": "tsd-search-results",
        "aria-autocomplete": "list",
        "aria-expanded": "true",
        "aria-label": "Search guides and API",
        spellcheck: false,
        autocapitalize: "off",
        autocomplete: "off",
        placeholder: "Search guides and API",
        maxLength: 100,
      }),
      h("ul", { role: "listbox", id: "tsd-search-results", "aria-label": "Results" }),
      h(
        "div",
        { id: "tsd-search-status", "aria-live": "polite", "aria-atomic": "true" },
        h("div", null, "Loading…"),
      ),
    );
  }

  /** Every guide with its description, by section. */
  #guides() {
    const sections = contents
      .map(({ title, pages: paths }) => ({
        title,
        guides: paths.filter((path) => pages.has(path)),
      }))
      .filter(({ guides }) => guides.length > 0);
    const entry = (guide) => [
      h("dt", null, h("a", { href: this.urlTo(guide) }, guide.name)),
      h("dd", null, withCode(pages.get(`${guide.frontmatter["path"]}`)?.description)),
    ];
    return h(
      "div",
      { class: "tsd-panel tsd-typography guides" },
      sections.map(({ title, guides }) => [
        h("h2", null, title),
        h("dl", null, documentsOf(this.#project, guides).flatMap(entry)),
      ]),
    );
  }

  #entryPoints(project) {
    return h(
      "dl",
      { class: "tsd-member-summaries" },
      project.children.map((module) => this.moduleMemberSummary(module)),
    );
  }

  #header({ url, model }) {
    if (url === "index.html" || model.isDocument()) return h(JSX.Fragment, null);
    const isOverview = model.isProject();
    const title = isOverview ? "API" : model.name;
    const kind = isOverview ? undefined : ReflectionKind.singularString(model.kind).toLowerCase();
    return h(
      "div",
      { class: "tsd-page-title" },
      this.breadcrumbs(model),
      h(
        "h1",
        { class: model.isDeprecated() ? "deprecated" : "" },
        title,
        " ",
        kind && h("small", null, kind === "module" ? "entry point" : kind),
        this.reflectionFlags(model),
      ),
    );
  }

  #breadcrumbs(model) {
    const above = [];
    for (let one = model.parent; one; one = one.parent) above.unshift(one);
    if (above.length === 0) return h(JSX.Fragment, null);
    return h(
      "ul",
      { class: "tsd-breadcrumb", "aria-label": "Breadcrumb" },
      above.map((one) =>
        h(
          "li",
          null,
          h(
            "a",
            { href: one.isProject() ? this.relativeURL("modules.html") : this.urlTo(one) },
            one.isProject() ? "API" : one.name,
          ),
        ),
      ),
    );
  }

  #pager({ model }) {
    const guides = documentsOf(
      this.#project,
      contents.flatMap(({ pages }) => pages),
    );
    const at = guides.indexOf(model);
    if (at < 0) return h(JSX.Fragment, null);
    const link = (guide, rel, words) =>
      guide && h("a", { href: this.urlTo(guide), rel }, h("small", null, words), guide.name);
    return h(
      "nav",
      { class: "pager", "aria-label": "Previous and next" },
      link(guides[at - 1], "prev", "Previous"),
      link(guides[at + 1], "next", "Next"),
    );
  }
}

function pathOf(model) {
  return model.isDocument() ? model.frontmatter["path"] : undefined;
}
