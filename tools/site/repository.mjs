// The address of the repository, from the root package.json: the one place that knows it.
import { readFileSync } from "node:fs";

/**
 * @param {{ repository?: string | { url?: string } | undefined }} manifest a package.json
 * @returns {string | undefined} its web address, without a slash at the end; undefined if there is none
 */
export function repositoryOf({ repository: field }) {
  const url = typeof field === "string" ? field : field?.url;
  if (!url) return undefined;
  return url
    .replace(/^github:|^(?=[\w.-]+\/[\w.-]+$)/, "https://github.com/")
    .replace(/^git\+/, "")
    .replace(/^(git|ssh):\/\/(git@)?/, "https://")
    .replace(/\.git\/?$|\/$/, "");
}

export const repository = repositoryOf(
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")),
);
