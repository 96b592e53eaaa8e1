/**
 * `FakeApi`: a Kubernetes API server in memory, on the clock of the test.
 *
 * @packageDocumentation
 */

export {
  FakeApi,
  type FakeApiListener,
  type FakeApiListenOptions,
  type FakeApiOptions,
  type FakeApiSnapshot,
  type FakeApiStartOptions,
} from "./fake-api.ts";
export type { FakeRequest, Fault, FaultRule } from "./faults.ts";
export type { FakeVerb } from "./request/api-call.ts";
export type { Progress } from "./response-body.ts";
export type { PolicyRule, RoleManifest } from "./rights.ts";
