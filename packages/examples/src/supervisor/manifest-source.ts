import type { Source } from "@holdfast/controller";
import { watchFile } from "./machine/watch-file.ts";
import { type ReadManifest, readManifest } from "./manifest/read-manifest.ts";

/** How long an edited manifest must be left alone before it counts, in milliseconds. */
const SETTLE = 100;

/** A manifest as it is now, and after every edit. */
export function manifestSource(file: string): Source<ReadManifest> {
  return {
    name: "manifest",
    async start({ enqueue, clock }, signal) {
      const read = (): void => enqueue(readManifest(file));
      read();
      await watchFile(file, read, { clock, settle: SETTLE, signal });
    },
  };
}
