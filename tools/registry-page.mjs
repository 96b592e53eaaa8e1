// What a registry shows of a package: the addresses in its manifest, and its README. Both follow `repository` in
// the package.json of the root; until it is set, nothing links there.
import { posix } from "node:path";

/**
 * The fields of a published manifest that name the repository; none until it is configured.
 *
 * @param {string} folder - of the package, such as `packages/clock`
 * @param {string | undefined} url - of the repository
 */
export function repositoryFields(folder, url) {
  if (url === undefined) return {};
  return {
    repository: { type: "git", url: `git+${url}.git`, directory: folder },
    homepage: `${url}/tree/main/${folder}#readme`,
    bugs: `${url}/issues`,
  };
}

const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:|#|mailto:)([^)\s]+)\)/g;

/**
 * A README as a registry shows it: links to files of the repository are absolute, at the tag of the
 * release. Without a repository they become their text, because a registry has no file to open.
 *
 * @param {string} text
 * @param {{ folder: string, version: string, url?: string | undefined }} where
 */
export function readmeForRegistry(text, { folder, version, url }) {
  return text
    .split(/(^ *```[\s\S]*?^ *```)/m)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(LINK, absolute)))
    .join("");

  function absolute(_, image, label, target) {
    if (url === undefined) return label;
    const view = image ? "raw" : "blob";
    return `${image}[${label}](${url}/${view}/v${version}/${posix.join(folder, target)})`;
  }
}
