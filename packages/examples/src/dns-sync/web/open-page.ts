import { servePage, type WebServer } from "../../web/serve-page.ts";
import type { Faults } from "../stage/faults.ts";
import type { NaiveLane } from "../stage/naive/naive-lane.ts";
import type { Stage } from "../stage/stage.ts";
import { actionsOf } from "./actions.ts";
import { Board } from "./board.ts";

/** The parts of a run used by its page. */
export interface OpenPageOptions {
  readonly stage: Stage;
  readonly faults: Faults;
  readonly naive: NaiveLane;
  /** 0 for any free port. */
  readonly port: number;
}

/** Serves the page of a run on 127.0.0.1. */
export async function openPage({
  stage,
  faults,
  naive,
  port,
}: OpenPageOptions): Promise<WebServer> {
  const canStopApi = stage.api.control !== undefined;
  return await servePage({
    clock: stage.clock,
    port,
    page: "dns-sync/web/page",
    status: new Board(stage, faults, naive),
    actions: actionsOf({ faults, canStopApi }),
  });
}
