/**
 * Kubernetes operators: a client, caches that survive restarts of the API server, leader election on a
 * Lease.
 *
 * @packageDocumentation
 */
export { type ErrorClass, findError } from "@holdfast/clock";
export type { ObjectChange } from "./cache/change.ts";
export {
  ApiError,
  type ApiErrorOptions,
  type ApiStatus,
  type ApiStatusCause,
  type ApiStatusDetails,
  isApiError,
} from "./client/api-error.ts";
export type { ApiTargetOptions } from "./client/api-target.ts";
export type {
  KubeApplyOptions,
  KubeCallOptions,
  KubeDeleteCollectionOptions,
  KubeDeleteOptions,
  KubeListOptions,
  KubeReadOptions,
  KubeRequestOptions,
  KubeUpgradeOptions,
  KubeWatchEvent,
  KubeWatchOptions,
  KubeWriteOptions,
} from "./client/call-options.ts";
export { type EnsureCrdOptions, ensureCrd } from "./client/ensure-crd.ts";
export { KubeClient } from "./client/kube-client.ts";
export type { KubeClientOptions } from "./client/kube-client-options.ts";
export { Cluster } from "./cluster/cluster.ts";
export type { ClusterOptions } from "./cluster/cluster-options.ts";
export type { ClusterStatus, InformerStatus } from "./cluster/cluster-status.ts";
export type { Informer, InformerSourceOptions } from "./cluster/informer.ts";
export { type OwnerOfOptions, ownerOf, ownerReference } from "./cluster/owners.ts";
export { generationChanged } from "./cluster/predicates.ts";
export type { WatchOptions } from "./cluster/watch-options.ts";
export { type KeptFields, keepInAnnotation } from "./conversion/kept-fields.ts";
export { LeaseLock, type LeaseLockOptions } from "./election/lease-lock.ts";
export { type EventDetails, EventRecorder } from "./helper/event-recorder.ts";
export type { EventRecorderOptions } from "./helper/event-recorder-options.ts";
export {
  type FinalizeClient,
  type FinalizeOptions,
  finalize,
  type RemoveFinalizerOptions,
  removeFinalizer,
} from "./helper/finalize.ts";
export {
  type MigratedResource,
  type MigrateStorageOptions,
  type MigrationContext,
  migrateStorage,
} from "./helper/migrate-storage.ts";
export { type ConditionUpdate, ownConditions, setCondition } from "./helper/set-condition.ts";
export type { KubernetesMetrics, RequestMetric } from "./kubernetes-metrics.ts";
export { builtIn } from "./object/built-in.ts";
export {
  type CustomResourceOptions,
  customResource,
  fromCrd,
  type TypedResourceOptions,
} from "./object/custom-resource.ts";
export type {
  ApplyInput,
  CachedObject,
  CreateInput,
  DeepInput,
  DeepReadonly,
  Jsonify,
  JsonPatch,
  JsonPatchOperation,
  KubeObject,
  MergePatch,
  MergePatchValue,
  ObjectMeta,
  OwnerReference,
  PartialInput,
  StatusCondition,
  StoredMeta,
  StoredObject,
  UpdateInput,
} from "./object/kube-object.ts";
export { metadataOf } from "./object/metadata-of.ts";
export { keyOf, type ObjectName, type ObjectRef } from "./object/object-ref.ts";
export { Quantity, type QuantityInput } from "./object/quantity.ts";
export type {
  ConditionedStatus,
  CustomObject,
  MetadataResource,
  ObjectOf,
  Resource,
  ResourceScope,
  WritableResource,
} from "./object/resource.ts";
export type { FieldSelector, LabelSelector } from "./object/selector.ts";
export type {
  ConversionAnswer,
  ConversionService,
  ConvertedMetadata,
  ConvertedObject,
  ConvertedStatus,
  DeepPartial,
  StoredBySchema,
  VersionConversion,
  VersionedKind,
  VersionedResource,
  VersionedResourceOptions,
  VersionHasConditions,
  VersionOptions,
  VersionResource,
  VersionSpec,
  VersionStatus,
  WithSpec,
  WithStatus,
  WrittenBySchema,
} from "./object/versioned-resource.ts";
export type { OperatorControllerArguments } from "./operator/failure-events.ts";
export {
  type HealthCheck,
  type HealthChecks,
  HealthServer,
  type HealthServerOptions,
} from "./operator/health-server.ts";
export type { OperatorMetrics } from "./operator/operator-metrics.ts";
export type {
  OperatorContext,
  OperatorElectionOptions,
  OperatorHealthOptions,
  OperatorOptions,
  OperatorSetup,
  OperatorShardsOptions,
  StartWork,
} from "./operator/operator-options.ts";
export { runOperator } from "./operator/run-operator.ts";
export type {
  ReflectorErrorStatus,
  ReflectorStatus,
} from "./reflect/reflector-status.ts";
export type {
  CrdOptions,
  KindOptions,
  PrinterColumn,
  ScalePaths,
  SchemaOptions,
  ValidationRule,
} from "./schema/crd.ts";
export type {
  JsonSchema,
  SchemaInput,
  SchemaOutput,
  StandardSchema,
} from "./schema/standard-schema.ts";
export { type AtUrlOptions, atUrl } from "./transport/at-url.ts";
export {
  ConnectionError,
  isConnectionError,
} from "./transport/connection-error.ts";
export {
  fromKubeConfig,
  type KubeConfigCluster,
  type KubeConfigLike,
} from "./transport/from-kube-config.ts";
export { type FromKubectlOptions, fromKubectl } from "./transport/from-kubectl.ts";
export type { Impersonation } from "./transport/impersonation.ts";
export { type InClusterOptions, inCluster } from "./transport/in-cluster.ts";
export type { KubeRequest, KubeResponse, KubeTransport } from "./transport/kube-transport.ts";
export {
  BodyTooLongError,
  isBodyTooLongError,
} from "./transport/read-body.ts";
export type { TransportOptions } from "./transport/transport-options.ts";
export type { Convertible } from "./webhook/conversion-review.ts";
export type { HookOptions, MutatingOptions, ValidatingOptions } from "./webhook/hook-options.ts";
export { mutating, validating } from "./webhook/hooks.ts";
export type {
  MutatingHandler,
  MutatingReview,
  Review,
  ReviewCause,
  ReviewResult,
  ValidatingHandler,
  ValidatingReview,
} from "./webhook/review-call.ts";
export type {
  AdmissionRequest,
  AdmissionResponse,
  Webhook,
  WebhookCaller,
  WebhookConfiguration,
  WebhookContext,
  WebhookOperation,
  WebhookRule,
  WebhookSelector,
  WebhookUser,
} from "./webhook/webhook.ts";
export type {
  ConversionMetric,
  WebhookCallMetric,
  WebhookMetrics,
  WebhookStatus,
} from "./webhook/webhook-metrics.ts";
export type { WebhookCertificate, WebhooksOptions } from "./webhook/webhooks-options.ts";
