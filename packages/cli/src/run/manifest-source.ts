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
      let last: Promise<unknown> = Promise.resolve();
      read = () => {
        // One after the other: the last one is the newest.
        last = last
          .then(() => readManifest(file, { clock, signal }))
          .then(enqueue, () => undefined); // It fails only when it is aborted.
      };
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
