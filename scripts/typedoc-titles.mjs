// Tells typedoc to call a document by its first heading, where it would take the name of the file, and
// to keep the decisions apart from the guides.
import { Converter } from "typedoc";

/** @param {import("typedoc").Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    document.frontmatter["group"] = document.name.includes("/adr/") ? "Decisions" : "Guides";
    const text = document.content.map((part) => part.text).join("");
    document.name = /^# (.+)$/m.exec(text)?.[1] ?? document.name;
  });
}
