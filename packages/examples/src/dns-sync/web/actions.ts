import { type Reply, textReply } from "../../web/reply.ts";
import type { Route } from "../../web/serve-page.ts";
import type { Faults } from "../harness/faults.ts";

/** Downtime of the API server and of the provider in milliseconds. */
const AWAY = { api: 8_000, provider: 6_000 };

/** Number of edits, and of changes at the provider, per click. */
const EDITS = 5_000;
const DRIFT = 20;

/** The parts of a harness used by the buttons. */
export interface Controls {
  readonly faults: Pick<
    Faults,
    "killLeader" | "stopApi" | "compact" | "provider" | "edit" | "drift" | "signal"
  >;
  readonly canStopApi: boolean;
}

/**
 * Actions by POST path. Each answers with a sentence as soon as its fault has begun.
 *
 * | Path | Fault |
 * | --- | --- |
 * | `/kill` | SIGKILL for the leader |
 * | `/stop-api` | the API server is down for 8 s and restarts without its history |
 * | `/compact` | the API server compacts its history |
 * | `/outage` | the provider answers 503 for 6 s |
 * | `/edit` | 5,000 edits of random records |
 * | `/drift` | 20 records change at the provider |
 */
export function actionsOf({ faults, canStopApi }: Controls): ReadonlyMap<string, Route> {
  const begin = (text: string, fault: () => Promise<unknown>): (() => Reply) => {
    let isUnderWay = false;
    return () => {
      if (isUnderWay) return textReply(409, "Already in progress.");
      isUnderWay = true;
      void fault()
        .catch(() => undefined) // The run ended or no replica leads; the log and the invariants show it.
        .finally(() => {
          isUnderWay = false;
        });
      return textReply(200, text);
    };
  };
  const ofApi = (text: string, fault: () => Promise<unknown>): (() => Reply) =>
    canStopApi
      ? begin(text, fault)
      : () => textReply(409, "An existing cluster cannot be stopped from this page.");
  const edits = EDITS.toLocaleString("en");
  return new Map<string, Route>([
    [
      "/kill",
      begin("The leader gets SIGKILL. Another replica leads after about 9 s.", () =>
        faults.killLeader(),
      ),
    ],
    ["/stop-api", ofApi("The API server is down for 8 s.", () => faults.stopApi(AWAY.api))],
    ["/compact", ofApi("The API server compacts its history.", () => faults.compact())],
    [
      "/outage",
      begin("The provider answers 503 for 6 s.", () => faults.provider("outage", AWAY.provider)),
    ],
    ["/edit", begin(`${edits} edits started.`, () => faults.edit(EDITS))],
    ["/drift", begin(`${DRIFT} records change at the provider.`, () => faults.drift(DRIFT))],
  ]);
}
