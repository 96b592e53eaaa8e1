import * as root from "@holdfast/explore";
import { ExplorationError, explore } from "@holdfast/explore";
import * as kinds from "../../../test/bad-input.ts";
import { ofSettings } from "../../../test/explore-settings.ts";
import { EXPLORATION_ERROR_OPTIONS } from "../src/exploration-error.ts";
import { EXPLORE_OPTIONS } from "../src/explore-options.ts";

const never = (): never => {
  throw new Error("a call with bad options must not get this far");
};
const valid = { world: never, run: never, scenario: never, stateOf: never };

const doors = [
  kinds.rejects(
    explore,
    [{ ...valid, without: ["crash-after"], upkeep: ["beat"] }],
    ["options", kinds.required(kinds.optionsOf(EXPLORE_OPTIONS, ofSettings))],
  ),
  kinds.constructs(
    ExplorationError,
    ["a world fails"],
    ["message", kinds.unchecked],
    ["options", kinds.optionsOf(EXPLORATION_ERROR_OPTIONS)],
  ),
];

kinds.testBadInput(doors, () => undefined);
const reports = new URL("../api/", import.meta.url);
kinds.testEveryExport(reports, { index: root }, doors, []);
