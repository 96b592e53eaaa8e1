// `npm run docs` builds the site. Its plugin is tools/site, its words and style sheet are docs/site.
import { repository } from "./tools/site/repository.mjs";

const validation = {
  notExported: true,
  invalidLink: true,
  invalidPath: true,
  rewrittenLink: true,
  notDocumented: true,
  unusedMergeModuleWith: true,
};

// No link to the sources until package.json says where they are.
const sources = repository
  ? { gitRevision: "main", sourceLinkTemplate: `${repository}/blob/main/{path}#L{line}` }
  : { disableSources: true };

/** @type {Partial<import("typedoc").TypeDocOptions>} */
export default {
  name: "Holdfast",
  entryPointStrategy: "packages",
  entryPoints: [
    "packages/wait",
    "packages/clock",
    "packages/controller",
    "packages/explore",
    "packages/outbox",
    "packages/kubernetes",
    "packages/fake-apiserver",
  ],
  projectDocuments: [
    "*.md",
    "docs/*.md",
    "docs/site/playground.md",
    "docs/site/guides.md",
    "bench/README.md",
    "conformance/README.md",
    "packages/fake-apiserver/conformance/README.md",
    "packages/examples/README.md",
    "packages/examples/src/*/README.md",
    "docs/adr/*.md",
  ],
  plugin: ["./tools/site/plugin.mjs"],
  theme: "holdfast",
  router: "holdfast",
  out: "docs/api",
  readme: "docs/site/landing.md",
  customCss: "docs/site/site.css",
  customJs: "docs/site/site.js",
  favicon: "docs/site/favicon.svg",
  ...sources,
  groupOrder: ["Functions", "Classes", "Variables", "Interfaces", "Type Aliases", "*"],
  sortEntryPoints: false,
  useFirstParagraphOfCommentAsSummary: true,
  lightHighlightTheme: "github-light-high-contrast",
  darkHighlightTheme: "github-dark-high-contrast",
  githubPages: false,
  hideGenerator: true,
  includeVersion: false,
  headings: { readme: false, document: false },
  highlightLanguages: [
    "prisma",
    "dockerfile",
    "bash",
    "javascript",
    "json",
    "jsonc",
    "sql",
    "text",
    "typescript",
    "yaml",
  ],
  treatWarningsAsErrors: true,
  treatValidationWarningsAsErrors: true,
  validation,
  packageOptions: {
    excludePrivate: true,
    excludeInternal: true,
    includeVersion: true,
    ...sources,
    validation,
    requiredToBeDocumented: [
      "Enum",
      "EnumMember",
      "Variable",
      "Function",
      "Class",
      "Interface",
      "Property",
      "Method",
      "Accessor",
      "TypeAlias",
    ],
  },
};
