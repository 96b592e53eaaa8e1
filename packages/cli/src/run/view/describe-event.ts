import type { Action } from "../core/diff.ts";
import type { SupervisorEvent } from "../core/event.ts";
import type { Statuses } from "../core/status.ts";
import { formatManifestError, formatManifestErrors } from "../manifest/manifest-error.ts";
import { describeProcessEvent } from "./describe-process-event.ts";
import type { Line, Tone } from "./line.ts";

const LAST_GOOD = "keeping the last valid manifest; correct this one and save it";

function actionsText(actions: readonly Action[]): string {
  const verbs = ["start", "restart", "update", "stop"] as const;
  const parts = verbs.flatMap((verb) => {
    const names = actions.filter(({ kind }) => kind === verb).map(({ name }) => name);
    return names.length === 0 ? [] : [`${verb} ${names.join(", ")}`];
  });
  return parts.length === 0 ? "nothing to change" : parts.join("; ");
}

function supervisorLines(texts: readonly string[], tone: Tone): Line[] {
  return texts.map((text) => ({ who: undefined, text, tone }));
}

/**
 * The lines that tell a change to a person; none where another event of the same instant tells it.
 *
 * @param statuses - as they are after the event
 */
export function describeEvent(event: SupervisorEvent, statuses: Statuses): Line[] {
  if ("name" in event) {
    const line = describeProcessEvent(event, statuses.get(event.name));
    return line === undefined ? [] : [line];
  }
  switch (event.type) {
    case "applied":
      return supervisorLines([`${event.file}: ${actionsText(event.actions)}`], "plain");
    case "rejected":
      return supervisorLines(
        [...formatManifestErrors(event.errors, formatManifestError), LAST_GOOD],
        "bad",
      );
    case "unreadable":
      return supervisorLines([event.message, LAST_GOOD], "bad");
    case "failed":
      return supervisorLines([`${event.message}; trying again`], "bad");
    case "serving":
      return supervisorLines([`its page: ${event.url}`], "plain");
    case "finished":
      return []; // The shutdown tells it.
    case "shutdown":
      return supervisorLines([`${event.why}: stopping`], "plain");
  }
}
