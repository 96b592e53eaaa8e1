/**
 * Explores the crashes of a program, on a fake clock.
 *
 * @packageDocumentation
 */
export { ExplorationError, isExplorationError } from "./exploration-error.ts";
export { explore } from "./explore.ts";
export {
  EXPLORE_SETTINGS,
  type ExploreOptions,
  type ExploreSettings,
  type ProgramContext,
  type ScenarioSetting,
  type SettingKind,
  type WorldContext,
} from "./explore-options.ts";
export type { Logger } from "./logger.ts";
export type { Held, WatchedRequest } from "./reconciles.ts";
export type { ExplorationReport } from "./report.ts";
export type { StepOptions, StepOutcome } from "./step.ts";
