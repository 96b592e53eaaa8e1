import type { Source } from "@holdfast/controller";
import { watchFile } from "./machine/watch-file.ts";
import { type ReadManifest, readManifest } from "./manifest/read-manifest.ts";

/** Time between two looks at the manifest, in milliseconds. */
const PERIOD = 100;

/** A manifest as it is now, and after every edit. */
export function manifestSource(file: string): Source<ReadManifest> {
  return {
    name: "manifest",
    async start({ enqueue, clock }, signal) {
      const read = (): void => enqueue(readManifest(file));
      await watchFile(file, read, { clock, period: PERIOD, signal });
    },
  };
}
