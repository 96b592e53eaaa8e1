import type { ClockCase, ClockOp } from "../clock-case.ts";
import { ClockModel } from "../clock-model.ts";
import { ReplayedClock } from "../replayed-clock.ts";
import type { RuleId } from "../rules.ts";
import type { Section } from "../section.ts";
import { type Fields, fieldsOf, type Trace } from "../trace.ts";

/** What the two clocks of Go do not have in common. */
interface Dialect {
  readonly file: string;
  readonly rules: readonly RuleId[];
  /** The rules of the other clock: this one follows them itself. */
  readonly followed: readonly RuleId[];
  /** Whether due timers fire without anybody moving the time. */
  readonly runsByItself: boolean;
  readonly unseen: Section["unseen"];
  /** What is compared of a recorded result. */
  readonly recorded: (op: ClockOp | undefined, result: object) => object;
  /** What of the result of an operation is recorded. */
  readonly view: (result: Fields) => Fields;
}

const fake: Dialect = {
  file: "fakeclock.json",
  rules: [
    "rejected-at-the-door",
    "own-instant",
    "time-goes-forward",
    "late-is-now",
    "nothing-stale",
    "ticker-stops",
    "sleep-waits",
  ],
  followed: ["fired-is-fired"],
  runsByItself: false,
  unseen: {},
  recorded: (_op, result) => result,
  view: ({ cb, ...result }) => ({ ...result, cb: (cb as Trace[][]).map(([id]) => id) }),
};

const real: Dialect = {
  file: "realclock.json",
  rules: ["rejected-at-the-door", "fired-is-fired"],
  followed: ["own-instant", "time-goes-forward", "late-is-now", "nothing-stale", "ticker-stops"],
  runsByItself: true,
  unseen: {
    "nilChan of afterFunc": "a Go timer with a callback has no channel; here all have `fired`",
  },
  recorded: (op, result) => (op?.[0] === "afterFunc" ? { ...result, nilChan: undefined } : result),
  view: ({ w, targets, ...result }) => result,
};

/** Go's fake clock, as `k8s.io/utils/clock/testing` has it. */
export const fakeClock: Section<ClockCase> = clockSection(fake);

/** Go's real clock on virtual time: what a fake clock should be like. */
export const realClock: Section<ClockCase> = clockSection(real);

function clockSection(dialect: Dialect): Section<ClockCase> {
  const { file, rules, followed, runsByItself, unseen, view } = dialect;
  return {
    file,
    name: "cases",
    fields: ["id", "profile", "autoDrain", "ops", "res"],
    unseen,
    rules,

    recorded: ({ ops, res }) =>
      fieldsOf({ res: res.map((result, index) => dialect.recorded(ops[index], result)) }),

    predict({ ops, autoDrain }, _recorded, inForce) {
      const model = new ClockModel(new Set([...followed, ...inForce]), runsByItself);
      const res = ops.map((op) => {
        const result = model.apply(op);
        return view(autoDrain ? { ...result, fired: model.drain() } : result);
      });
      return { res };
    },

    async replay({ ops, autoDrain }) {
      const clock = new ReplayedClock(runsByItself);
      const res: Fields[] = [];
      for (const op of ops) {
        const result = await clock.apply(op);
        res.push(view(autoDrain ? { ...result, fired: await clock.drain() } : result));
      }
      return { res };
    },
  };
}
