import { ReflectionKind } from "typedoc";

/**
 * Names each entry point as users import it, `@holdfast/wait/go`, beside its package: the names of a
 * package's root belong to the package itself.
 *
 * @param {import("typedoc").ProjectReflection} project
 */
export function nameByImportPath(project) {
  for (const pack of [...(project.children ?? [])]) {
    for (const entry of (pack.children ?? []).filter(
      ({ kind }) => kind === ReflectionKind.Module,
    )) {
      if (entry.name === "index") {
        if (entry.comment) pack.comment = entry.comment;
        project.mergeReflections(entry, pack);
        continue;
      }
      entry.name = `${pack.name}/${entry.name}`;
      pack.removeChild(entry);
      entry.parent = project;
      project.addChild(entry);
    }
    delete pack.groups;
    const [first] = pack.readme ?? [];
    if (first?.kind === "text") first.text = first.text.replace(/^# .+\n/, ""); // the page has that title
  }
  delete project.groups;
}
