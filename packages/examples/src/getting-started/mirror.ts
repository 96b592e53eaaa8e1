import { Controller, resync } from "@holdfast/controller";
import { getText, type Machine } from "./get-text.ts";

export interface Files {
  read(name: string): Promise<string | undefined>;
  write(name: string, text: string): Promise<void>;
}

/** Keeps files equal to web pages. `pages` holds the URL of each file. */
export function mirror(pages: Map<string, string>, files: Files, machine?: Machine): Controller {
  return new Controller({
    name: "mirror",
    sources: [resync({ list: () => pages.keys(), interval: 60 * 60_000 })],
    async reconcile({ key, signal }) {
      const url = pages.get(key);
      if (url === undefined) return; // no page of ours
      const wanted = await getText(url, signal, machine);
      if ((await files.read(key)) !== wanted) await files.write(key, wanted);
    },
    ...machine,
  });
}
