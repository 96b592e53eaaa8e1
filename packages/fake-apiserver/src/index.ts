/**
 * `FakeApi`: a Kubernetes API server in memory, on the clock of the test.
 *
 * @packageDocumentation
 */

export type { ClusterState } from "./explore/cluster-state.ts";
export { explore, type OperatorExploration } from "./explore/explore.ts";
export type {
  ExploredContext,
  ExploreOperatorOptions,
  ScenarioContext,
} from "./explore/explore-options.ts";
export {
  type ReplayOptions,
  type ReplayReport,
  type RequestDivergence,
  replay,
} from "./recording/replay.ts";
export {
  type ShadowContext,
  type ShadowOptions,
  type ShadowReport,
  shadow,
} from "./recording/shadow.ts";
export type { ShadowWrite } from "./recording/written.ts";
export {
  FakeApi,
  type FakeApiListener,
  type FakeApiListenOptions,
  type FakeApiOptions,
  type FakeApiSnapshot,
  type FakeApiStartOptions,
} from "./server/fake-api.ts";
export type {
  ConversionHook,
  FakeRequest,
  Fault,
  FaultRule,
  HookFault,
  HookFaultRule,
} from "./server/faults.ts";
export type { Normalise } from "./server/normal-form.ts";
export type { FakeVerb } from "./server/request/api-call.ts";
export type { Progress } from "./server/response-body.ts";
export type { PolicyRule, RoleManifest } from "./server/rights.ts";
