// What has to be true of a tarball beyond the rules that publint and attw know.
import { posix } from "node:path";
import { entriesOf } from "./packages.mjs";

const ALWAYS = ["LICENSE", "NOTICE", "README.md", "package.json"];

/**
 * Files that are missing, and files that nobody can reach.
 *
 * @param {string[]} files
 * @param {any} manifest
 * @param {(file: string) => string} read
 */
export function problemsOfFiles(files, manifest, read) {
  const targets = entriesOf(manifest);
  const commands = Object.values(manifest.bin ?? {}).map((file) => file.slice(2));
  const entries = [...targets.map(({ file }) => file.slice(2)), ...commands];
  const wanted = [...ALWAYS, ...entries, ...targets.map(({ types }) => types.slice(2))];
  const missing = wanted.filter((file) => !files.includes(file));
  const scripts = files.filter((file) => /^dist\/.*\.js$/.test(file));
  const others = scripts.filter(
    (file) => !entries.includes(file) && !file.startsWith("dist/shared/"),
  );
  // An entry point that only passes on what others share has nothing to map.
  const unmapped = scripts.filter(
    (file) =>
      !files.includes(`${file}.map`) &&
      !/^((import|export) [{*"].*\n*|\/\/.*\n*)*$/.test(read(file)),
  );
  const mapped = files
    .filter((file) => file.endsWith(".js.map"))
    .flatMap((file) =>
      JSON.parse(read(file)).sources.map((one) => ({ file, source: posix.join(file, "..", one) })),
    );
  const lost = mapped.filter(({ source }) => !files.includes(source));
  // A class in two bundles is two classes.
  const doubled = mapped.filter(
    ({ source }, index) => mapped.findIndex((other) => other.source === source) < index,
  );
  const orphans = files
    .filter((file) => /^dist\/.*\.d\.ts$/.test(file))
    .filter((file) => !files.includes(file.replace(/^dist\/(.*)\.d\.ts$/, "src/$1.ts")));
  const stray = files.filter(
    (file) =>
      !ALWAYS.includes(file) &&
      !/^(dist\/.*\.(js|d\.ts)(\.map)?|src\/.*\.ts|template\/.*)$/.test(file),
  );
  const homeless = files.filter(
    (file) => /^dist\/.*\.(js|d\.ts)$/.test(file) && /["']@holdfast\/kit["'/]/.test(read(file)),
  );
  const unstartable = commands.filter(
    (file) => files.includes(file) && !read(file).startsWith("#!/usr/bin/env node\n"),
  );
  return [
    ...missing.map((file) => `${file} is missing`),
    ...unstartable.map((file) => `${file} does not begin with #!/usr/bin/env node`),
    ...others.map((file) => `${file} is neither an entry point nor shared by some`),
    ...unmapped.map((file) => `${file} has no source map`),
    ...lost.map(({ file, source }) => `${file}: ${source} is mapped and missing`),
    ...doubled.map(({ file, source }) => `${file}: ${source} is in another bundle, too`),
    ...orphans.map((file) => `${file} has no source`),
    ...homeless.map((file) => `${file} imports @holdfast/kit, which is not published`),
    ...stray.map((file) => `${file} does not belong there`),
  ];
}

/** @param {any} manifest */
export function problemsOfManifest(manifest) {
  const { dependencies = {}, peerDependencies = {}, publishConfig = {}, exports } = manifest;
  const text = JSON.stringify(manifest);
  return [
    ...["workspace:", "catalog:", "@holdfast/source"]
      .filter((word) => text.includes(word))
      .map((word) => `package.json says ${word}, which only this workspace reads`),
    ...Object.entries({ ...dependencies, ...peerDependencies })
      .filter(([name, range]) => name.startsWith("@holdfast/") && !/^~\d/.test(range))
      .map(([name, range]) => `${name} is ${range}; only ~ keeps our packages in step`),
    ...["description", "keywords", "license", "engines"]
      .filter((field) => manifest[field] === undefined)
      .map((field) => `package.json has no ${field}`),
    ...(publishConfig.access === "public" && publishConfig.provenance === true
      ? []
      : ["publishConfig needs access public and provenance true"]),
    ...(exports["./package.json"] === undefined ? ["exports hides package.json"] : []),
  ];
}

/** Links that a registry cannot follow: it has no files beside the README. */
export function problemsOfReadme(text) {
  const prose = text.replace(/^ *```[\s\S]*?^ *```/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)/gm)]
    .map(([, inline, reference]) => inline ?? reference ?? "")
    .filter((target) => !/^(https?:|mailto:|#)/.test(target))
    .map((target) => `README.md links to ${target}, which a registry page cannot open`);
}
