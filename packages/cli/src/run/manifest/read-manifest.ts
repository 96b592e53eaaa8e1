import { descriptorOf, type NamedFileOptions, readNamed } from "../../named-file.ts";
import { fileState } from "../../system-call.ts";
import { type ParsedManifest, parseManifest } from "./parse-manifest.ts";

/** A manifest as {@link parseManifest} returns it, or why its file cannot be read. */
export type ReadManifest = ParsedManifest | { readonly ok: false; readonly message: string };

function explain(file: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `${file} does not exist: create it or correct the name`;
  if (error.code === "EISDIR") return `${file} is a directory: name the file in it`;
  if (error.code === "EACCES") return `${file} may not be read: try chmod +r`;
  return `${file} cannot be read: ${error.message}`;
}

/**
 * @param file - the manifest; `-` for stdin, which can be read once
 * @throws `signal.reason` of the options
 */
export async function readManifest(file: string, options: NamedFileOptions): Promise<ReadManifest> {
  const { clock, signal } = options;
  let text: string;
  try {
    text = (await readNamed(file, options)).toString("utf8");
  } catch (error) {
    signal?.throwIfAborted();
    return { ok: false, message: explain(file, error as NodeJS.ErrnoException) };
  }
  const texts = new Map<string, string | Error>();
  while (true) {
    const missing: string[] = [];
    const parsed = parseManifest(text, file, (path) => {
      const found = texts.get(path);
      if (found === undefined) missing.push(path);
      if (found instanceof Error) throw found;
      return found ?? "";
    });
    if (missing.length === 0) return parsed;
    for (const path of missing)
      texts.set(
        path,
        await readNamed(path, { clock, ...(signal && { signal }) }).then(
          String,
          (error: Error) => error,
        ),
      );
    signal?.throwIfAborted();
  }
}

/** Whether a manifest is stdin or a pipe, as of `<(…)` in a shell: it can be read once, and does not change. */
export async function isReadOnce(file: string): Promise<boolean> {
  if (descriptorOf(file) !== undefined) return true;
  const found = await fileState(file).catch(() => undefined);
  return found?.isReadOnce === true;
}
