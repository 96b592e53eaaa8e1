// Simulates one herd, beside the page, and ends with it.
import { drawHerd } from "../draw.ts";
import type { Settings } from "../settings.ts";

addEventListener("message", ({ data }: MessageEvent<Settings>) => {
  drawHerd(data).then(
    (herd) => postMessage({ herd }),
    (error: unknown) =>
      postMessage({ problem: error instanceof Error ? error.message : `${error}` }),
  );
});
