import { ReflectionKind } from "typedoc";

/**
 * Names each entry point as users import it, `@holdfast/wait/go`, beside its package: the names of a
 * package's root belong to the package itself.
 *
 * @param {import("typedoc").ProjectReflection} project
 */
export function nameByImportPath(project) {
  const packages = [...(project.children ?? [])];
  for (const pack of packages) {
    for (const entry of (pack.children ?? []).filter(
      ({ kind }) => kind === ReflectionKind.Module,
    )) {
      if (entry.name === "") {
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
  const order = packages.map(({ name }) => name);
  const packageOf = ({ name }) => order.indexOf(name.split("/", 2).join("/"));
  project.children?.sort((a, b) => packageOf(a) - packageOf(b) || a.name.localeCompare(b.name));
  delete project.groups;

  // One version for all stands in the header instead of behind each name.
  const [version, ...others] = new Set(packages.map(({ packageVersion }) => packageVersion));
  if (version === undefined || others.length > 0) return;
  project.packageVersion = version;
  for (const pack of packages) delete pack.packageVersion;
}
