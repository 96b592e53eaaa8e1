import * as root from "@holdfast/explore";
import * as kinds from "../../../test/bad-input.ts";
import { ofSettings } from "../../../test/explore-settings.ts";

const { f } = kinds;
const sources = new URL("../src/", import.meta.url);
const { constructs, rejects } = await kinds.doorsOf(sources, ofSettings);
const valid = { world: f, run: f, scenario: f, stateOf: f };

const doors = [
  rejects(
    root.explore,
    [{ ...valid, without: ["crash-after"], upkeep: ["beat"] }],
    "options: EXPLORE_OPTIONS",
  ),
  constructs(
    root.ExplorationError,
    ["a world fails"],
    "message: anything, options?: EXPLORATION_ERROR_OPTIONS",
  ),
];

kinds.testBadInput(doors, () => undefined);
kinds.testEveryExport(new URL("../api/", import.meta.url), { index: root }, doors, []);
