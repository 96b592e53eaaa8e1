import { hasCounterpart, managerRejections, rejectedNames } from "../go-manager.ts";
import type { GoInt } from "../nanoseconds.ts";
import { withRejected } from "../rejections.ts";
import type { Section } from "../section.ts";
import { fieldsOf } from "../trace.ts";
import { type UntilInput, UntilRun } from "../until-run.ts";

interface UntilCase {
  readonly id: number;
  readonly in: UntilInput;
  readonly out: {
    readonly starts: readonly GoInt[];
    readonly ends: readonly GoInt[];
    readonly arms: readonly { readonly at: GoInt; readonly d: GoInt }[];
    readonly returnedAt: GoInt;
    readonly waitersLeft: number;
    readonly panicsHandled?: number;
    readonly panicPropagated?: boolean;
    readonly u: readonly number[];
  };
}

/** `BackoffUntil`. */
export const backoffUntilCases: Section<UntilCase> = {
  file: "backoff-until.json",
  name: "cases",
  fields: [
    "id",
    ...["kind", "init", "max", "reset", "factor", "jitter", "period"].map(
      (name) => `in.manager.${name}`,
    ),
    ...["sliding", "f", "panics", "reallyCrash", "jump"].map((name) => `in.${name}`),
    ...["when", "call", "after", "order"].map((name) => `in.stop.${name}`),
    ...["starts", "ends", "arms", "returnedAt", "waitersLeft", "u"].map((name) => `out.${name}`),
    ...["panicsHandled", "panicPropagated"].map((name) => `out.${name}`),
  ],
  unseen: {},
  rules: ["rejected-at-the-door", "no-leak-after-crash"],

  recorded: ({ out: { u, ...out } }) =>
    fieldsOf({ panicsHandled: 0, panicPropagated: false, ...out, draws: u.length }),

  predict({ in: { manager, sliding }, out }, recorded, inForce) {
    const rejected = inForce.has("rejected-at-the-door") ? rejectedNames(manager) : [];
    const leaks = leavesTimer(sliding, out);
    const waitersLeft = leaks && !inForce.has("no-leak-after-crash") ? 1n : 0n;
    const run = { ...recorded, waitersLeft };
    return withRejected(rejected, rejected.length === 0 || hasCounterpart(manager) ? run : {});
  },

  async replay({ in: input, out: { u } }) {
    const rejected = managerRejections(input.manager);
    if (!hasCounterpart(input.manager)) return { rejected };
    return { rejected, ...(await new UntilRun(input, u).replay()) };
  },
};

/** Whether Go ends with its timer armed: it was armed before the call that panicked. */
function leavesTimer(sliding: boolean, out: UntilCase["out"]): boolean {
  const last = out.arms.at(-1);
  if (sliding || out.panicPropagated !== true || last === undefined) return false;
  return BigInt(last.at) + BigInt(last.d) > BigInt(out.returnedAt);
}
