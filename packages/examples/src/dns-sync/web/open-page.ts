import { servePage, type WebServer } from "../../web/serve-page.ts";
import type { Baseline } from "../harness/baseline/baseline.ts";
import type { Faults } from "../harness/faults.ts";
import type { Harness } from "../harness/harness.ts";
import { actionsOf } from "./actions.ts";
import { Board } from "./board.ts";

/** The parts of a run used by its page. */
export interface OpenPageOptions {
  readonly harness: Harness;
  readonly faults: Faults;
  readonly baseline: Baseline;
  /** 0 for any free port. */
  readonly port: number;
}

/** Serves the page of a run on 127.0.0.1. */
export async function openPage({
  harness,
  faults,
  baseline,
  port,
}: OpenPageOptions): Promise<WebServer> {
  const canStopApi = harness.api.control !== undefined;
  return await servePage({
    clock: harness.clock,
    port,
    page: "dns-sync/web/page",
    status: new Board(harness, faults, baseline),
    actions: actionsOf({ faults, canStopApi }),
  });
}
