import { createRequire } from "node:module";

/**
 * The version of an installed package, as the module at `from` finds it. Undefined in a bundle, which has no manifests.
 *
 * @param from - `import.meta.url` of the caller
 */
export function versionOf(name: string, from: string): string | undefined {
  try {
    return (createRequire(from)(`${name}/package.json`) as { readonly version: string }).version;
  } catch {
    return undefined;
  }
}
