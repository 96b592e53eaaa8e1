import { type Reply, textReply } from "../../web/reply.ts";
import type { Answer } from "../../web/serve-page.ts";
import type { Faults } from "../stage/faults.ts";

/** How long the API server and the provider stay away, in milliseconds. */
const AWAY = { api: 8_000, provider: 6_000 };

/** How many edits, and how many changes at the provider, a button makes. */
const EDITS = 5_000;
const DRIFT = 20;

/** The parts of a stage that buttons use. */
export interface Controls {
  readonly faults: Pick<
    Faults,
    "killLeader" | "stopApi" | "compact" | "provider" | "edit" | "drift" | "signal"
  >;
  readonly canStopApi: boolean;
}

/**
 * What a POST to the page does. Each answers with a sentence, when the fault has begun.
 *
 * | Path | |
 * | --- | --- |
 * | `/kill` | SIGKILL for the leader |
 * | `/stop-api` | the API server is away for 8 s, and has lost its history |
 * | `/compact` | the API server forgets its history |
 * | `/outage` | the provider answers 503 for 6 s |
 * | `/edit` | 5,000 edits of random records |
 * | `/drift` | somebody changes 20 records at the provider |
 */
export function actionsOf({ faults, canStopApi }: Controls): ReadonlyMap<string, Answer> {
  const begin = (text: string, fault: () => Promise<unknown>): (() => Reply) => {
    let isUnderWay = false;
    return () => {
      if (isUnderWay) return textReply(409, "That is under way already.");
      isUnderWay = true;
      void fault()
        .catch(() => undefined) // The run ends, or nobody leads: the log and the invariants say so.
        .finally(() => {
          isUnderWay = false;
        });
      return textReply(200, text);
    };
  };
  const ofApi = (text: string, fault: () => Promise<unknown>): (() => Reply) =>
    canStopApi
      ? begin(text, fault)
      : () => textReply(409, "This cluster belongs to others: it is not stopped from here.");
  const edits = EDITS.toLocaleString("en");
  return new Map<string, Answer>([
    [
      "/kill",
      begin("The leader gets SIGKILL. Another one leads in about 9 s.", () => faults.killLeader()),
    ],
    ["/stop-api", ofApi("The API server is away for 8 s.", () => faults.stopApi(AWAY.api))],
    ["/compact", ofApi("The API server forgets its history.", () => faults.compact())],
    [
      "/outage",
      begin("The provider is out of order for 6 s.", () =>
        faults.provider("outage", AWAY.provider),
      ),
    ],
    ["/edit", begin(`${edits} edits begin.`, () => faults.edit(EDITS))],
    ["/drift", begin(`${DRIFT} records change at the provider.`, () => faults.drift(DRIFT))],
  ]);
}
