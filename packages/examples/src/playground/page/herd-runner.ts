import type { Measurement } from "../../herd/simulate.ts";
import type { Drawing } from "../draw.ts";
import type { Settings } from "../settings.ts";

/** The text of the bundled worker: a page that is opened from a file may not load another. */
declare const WORKER_SOURCE: string;

export type HerdState =
  | { readonly state: "done"; readonly load: Measurement; readonly drawing: Drawing }
  | { readonly state: "failed"; readonly problem: string };

type Reply = { herd: { load: Measurement; drawing: Drawing } } | { problem: string };

/** Simulates the latest settings; a newer run ends an older one. */
export class HerdRunner {
  readonly #show: (state: HerdState) => void;
  readonly #url: string;
  #worker: Worker | undefined;

  constructor(show: (state: HerdState) => void) {
    this.#show = show;
    this.#url = URL.createObjectURL(new Blob([WORKER_SOURCE], { type: "text/javascript" }));
  }

  run(settings: Settings): void {
    this.stop();
    const worker = new Worker(this.#url);
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Reply>) => {
      this.stop();
      if ("herd" in data) this.#show({ state: "done", ...data.herd });
      else this.#show({ state: "failed", problem: data.problem });
    };
    worker.onerror = ({ message }) => {
      this.stop();
      this.#show({ state: "failed", problem: message });
    };
    worker.postMessage(settings);
  }

  stop(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
  }
}
