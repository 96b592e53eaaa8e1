/**
 * `FakeApi`: a Kubernetes API server in memory, on the clock of the test.
 *
 * @packageDocumentation
 */

export type { ClusterState } from "./explore/cluster-state.ts";
export {
  type ExploredContext,
  type ExploreOperatorOptions,
  explore,
  type OperatorExploration,
  type ScenarioContext,
} from "./explore/explore.ts";
export {
  FakeApi,
  type FakeApiListener,
  type FakeApiListenOptions,
  type FakeApiOptions,
  type FakeApiSnapshot,
  type FakeApiStartOptions,
} from "./fake-api.ts";
export type { FakeRequest, Fault, FaultRule } from "./faults.ts";
export type { Normalise } from "./normal-form.ts";
export type { FakeVerb } from "./request/api-call.ts";
export type { Progress } from "./response-body.ts";
export type { PolicyRule, RoleManifest } from "./rights.ts";
