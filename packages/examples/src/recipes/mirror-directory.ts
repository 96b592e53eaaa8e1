import nodeFs from "node:fs";
import { dirname, join } from "node:path";
import { realClock } from "@holdfast/clock";
import { Controller, fromCallback, resync } from "@holdfast/controller";
import type { RecipeOptions } from "./recipe-options.ts";

/** Options for {@link mirrorDirectory}. */
export interface MirrorOptions extends RecipeOptions {
  /** Reads, writes and watches files; `node:fs` by default. */
  readonly fs?: Pick<typeof nodeFs, "promises" | "watch">;
}

/** Keeps the files below `target` equal to those below `source`. Ignores empty directories. */
export async function mirrorDirectory(
  source: string,
  target: string,
  { signal, clock = realClock, random, log = console.log, fs = nodeFs }: MirrorOptions,
): Promise<void> {
  const { mkdir, readdir, readFile, rm, writeFile } = fs.promises;
  const filesIn = (directory: string) => readdir(directory, { recursive: true });
  const contentOf = (file: string) => readFile(file).catch(undefinedIfNoFile);
  const changes = fromCallback("watch", (enqueue) => {
    const watcher = fs.watch(source, { recursive: true }, (_, file) => file && enqueue(file));
    watcher.on("error", (error) => log(`${error}; changes now take up to a minute`));
    return () => watcher.close();
  });
  const list = async () => [...(await filesIn(source)), ...(await filesIn(target))];
  await mkdir(target, { recursive: true });
  await new Controller({
    name: "mirror",
    sources: [changes, resync({ list, interval: 60_000 })],
    async reconcile({ key: file }) {
      const copy = join(target, file);
      const [wanted, actual] = [await contentOf(join(source, file)), await contentOf(copy)];
      if (wanted === undefined ? actual === undefined : actual?.equals(wanted)) return;
      await mkdir(dirname(copy), { recursive: true });
      await (wanted === undefined ? rm(copy) : writeFile(copy, wanted));
      log(`${wanted === undefined ? "removed" : "copied"} ${file}`);
    },
    clock,
    random,
  }).run(signal);
}

function undefinedIfNoFile(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "EISDIR") throw error;
}
