import { fromCallback, type Source } from "@holdfast/controller";
import { watchFile } from "./machine/watch-file.ts";
import { type ReadManifest, readManifest } from "./manifest/read-manifest.ts";

/** Time between two looks at the manifest, in milliseconds. */
const PERIOD = 100;

/** A manifest that can be read again. */
export interface ManifestSource {
  readonly source: Source<ReadManifest>;
  /** Reads it again, whether it has changed or not. */
  readonly reload: () => void;
}

/** A manifest as it is now, after every edit, and when asked. */
export function manifestSource(file: string): ManifestSource {
  let read = (): void => undefined;
  const source: Source<ReadManifest> = {
    name: "manifest",
    async start({ enqueue, clock }, signal) {
      // A pipe in its place would block everything.
      read = () => enqueue(readManifest(file, { pipes: false }));
      await watchFile(file, () => read(), { clock, period: PERIOD, signal });
    },
  };
  return { source, reload: () => read() };
}

/** A manifest that was read once. */
export function fixedManifest(read: ReadManifest): ManifestSource {
  const source = fromCallback<ReadManifest>("manifest", (enqueue) => enqueue(read));
  return { source, reload: () => undefined };
}
