import * as root from "@holdfast/explore";
import { ExplorationError, explore } from "@holdfast/explore";
import * as kinds from "../../../test/bad-input.ts";

const { object, required, text } = kinds;

const never = (): never => {
  throw new Error("a call with bad options must not get this far");
};
const valid = { world: never, run: never, scenario: never, stateOf: never };

const doors = [
  kinds.rejects(
    explore,
    [{ ...valid, without: ["crash-after"] }],
    [
      "options",
      required(
        object({
          world: required(kinds.func),
          run: required(kinds.func),
          scenario: required(kinds.func),
          stateOf: required(kinds.func),
          revisionOf: kinds.func,
          invariant: kinds.func,
          expect: kinds.unchecked,
          without: kinds.arrayOf(text),
          only: text,
          worlds: kinds.whole(1),
          pairs: kinds.whole(0),
          time: kinds.above(0),
          signal: kinds.signal,
          quiet: kinds.positive,
          upgradeFrom: kinds.func,
          onVersion: kinds.func,
          longestTimer: kinds.notNegative,
          logger: kinds.methods("debug", "info", "warn", "error"),
          countsOf: kinds.func,
          upkeep: kinds.arrayOf(text),
          seed: kinds.whole(0),
        }),
      ),
    ],
  ),
  kinds.constructs(
    ExplorationError,
    ["a world fails"],
    ["message", kinds.unchecked],
    ["options", object({ only: kinds.unchecked, cause: kinds.unchecked })],
  ),
];

kinds.testBadInput(doors, () => undefined);
const reports = new URL("../api/", import.meta.url);
kinds.testEveryExport(reports, { index: root }, doors, []);
