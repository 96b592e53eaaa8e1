import { JSX, ReflectionKind, UnionType } from "typedoc";

const h = JSX.createElement;

/** @typedef {import("typedoc").DeclarationReflection} Declaration */
/** @typedef {import("typedoc").DefaultThemeRenderContext} Context */

/**
 * The options of a parameter, a row each.
 *
 * @param {Context} context
 * @param {import("typedoc").Reflection} parameter
 * @param {import("typedoc").SomeType} type of the parameter
 * @returns {JSX.Element | undefined} undefined for a parameter that has no options
 */
export function optionsTable(context, parameter, type) {
  const options = isOptions(parameter, type) ? propertiesOf(type) : [];
  if (options.length === 0) return undefined;
  const sorted = [...options].sort(
    (a, b) => optional(a) - optional(b) || a.name.localeCompare(b.name),
  );
  return h(
    "div",
    { class: "options" },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          ["Option", "Type", "Default", "Description"].map((title) =>
            h("th", { scope: "col" }, title),
          ),
        ),
      ),
      h(
        "tbody",
        null,
        sorted.map((option) => row(context, option)),
      ),
    ),
  );
}

function isOptions({ name }, type) {
  return name === "options" || (type.type === "reference" && /Options$/.test(type.name));
}

/**
 * @param {import("typedoc").SomeType} type
 * @param {Set<unknown>} [seen]
 * @returns {Declaration[]}
 */
function propertiesOf(type, seen = new Set()) {
  switch (type.type) {
    case "reference": {
      const target = /** @type {Declaration | undefined} */ (type.reflection);
      if (target === undefined || seen.has(target)) return [];
      seen.add(target);
      if (target.kind === ReflectionKind.Interface) return target.children ?? [];
      return target.type ? propertiesOf(target.type, seen) : (target.children ?? []);
    }
    case "intersection":
      return type.types.flatMap((one) => propertiesOf(one, seen));
    case "reflection":
      return type.declaration.children ?? [];
    default:
      return [];
  }
}

function optional({ flags }) {
  return flags.isOptional ? 1 : 0;
}

/**
 * @param {Context} context
 * @param {Declaration} option
 */
function row(context, option) {
  const fallback = commentOf(option)?.getTag("@defaultValue");
  const name = h("code", null, option.name);
  return h(
    "tr",
    null,
    h(
      "th",
      { scope: "row" },
      context.router.hasUrl(option) ? h("a", { href: context.urlTo(option) }, name) : name,
      optional(option) === 0 && h("small", null, "required"),
    ),
    h("td", { class: "type", "data-label": "Type" }, h("code", null, typeOf(context, option))),
    h(
      "td",
      { "data-label": "Default" },
      fallback ? h(JSX.Raw, { html: inline(context, fallback.content) }) : "",
    ),
    h(
      "td",
      { class: "tsd-typography" },
      h(JSX.Raw, { html: context.markdown(commentOf(option)?.summary ?? []) }),
    ),
  );
}

function commentOf(option) {
  return option.comment ?? option.signatures?.[0]?.comment ?? option.getSignature?.comment;
}

/** Without the `undefined` that an optional property has anyway. */
function typeOf(context, option) {
  const type = option.type ?? option.getSignature?.type;
  if (type === undefined) return option.signatures ? "function" : "";
  if (optional(option) === 0 || type.type !== "union") return context.type(type);
  const rest = type.types.filter((one) => !(one.type === "intrinsic" && one.name === "undefined"));
  return context.type(rest.length === 1 ? rest[0] : new UnionType(rest));
}

/** Markdown as text that goes into a line. TypeDoc makes a block of code of a default without marks. */
function inline(context, content) {
  const parts = content.map((part) => ({
    ...part,
    text: part.text.replace(/^```ts\n([\s\S]*)\n```$/, "$1"),
  }));
  return context
    .markdown(parts)
    .trim()
    .replace(/^<p>([\s\S]*)<\/p>$/, "$1");
}
