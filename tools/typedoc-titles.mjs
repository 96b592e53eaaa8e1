// Tells typedoc to call a document by its first heading, where it would take the name of the file, to
// keep the decisions apart from the guides, and not to say the project's name twice.
import { Converter, Renderer } from "typedoc";

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    document.frontmatter["group"] = document.name.includes("/adr/") ? "Decisions" : "Guides";
    const text = document.content.map((part) => part.text).join("");
    document.name = /^# (.+)$/m.exec(text)?.[1] ?? document.name;
  });
  app.renderer.on(Renderer.EVENT_BEGIN, ({ project }) => {
    const [first] = project.readme ?? [];
    if (first?.kind === "text") first.text = first.text.replace(/^# .+\n/, "");
  });
}
