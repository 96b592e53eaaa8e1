import { requireText } from "@holdfast/kit";
import type { KubeObject } from "./kube-object.ts";
import type { Resource } from "./resource.ts";

/** `version: kinds`, where a kind is `Kind` or `Kind:plural`, and a mark `*` says cluster scope. */
const KINDS: Readonly<Record<string, string>> = {
  v1: "ConfigMap Endpoints:endpoints Event LimitRange Namespace* Node* PersistentVolume* PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
  "admissionregistration.k8s.io/v1":
    "MutatingAdmissionPolicy:mutatingadmissionpolicies* MutatingAdmissionPolicyBinding* MutatingWebhookConfiguration* ValidatingAdmissionPolicy:validatingadmissionpolicies* ValidatingAdmissionPolicyBinding* ValidatingWebhookConfiguration*",
  "apiextensions.k8s.io/v1": "CustomResourceDefinition*",
  "apiregistration.k8s.io/v1": "APIService*",
  "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
  "authentication.k8s.io/v1": "SelfSubjectReview* TokenReview*",
  "authorization.k8s.io/v1":
    "LocalSubjectAccessReview SelfSubjectAccessReview* SelfSubjectRulesReview* SubjectAccessReview*",
  "autoscaling/v2": "HorizontalPodAutoscaler",
  "batch/v1": "CronJob Job",
  "certificates.k8s.io/v1": "CertificateSigningRequest*",
  "coordination.k8s.io/v1": "Lease",
  "discovery.k8s.io/v1": "EndpointSlice",
  "events.k8s.io/v1": "Event",
  "flowcontrol.apiserver.k8s.io/v1": "FlowSchema* PriorityLevelConfiguration*",
  "networking.k8s.io/v1":
    "IPAddress:ipaddresses* Ingress:ingresses IngressClass:ingressclasses* NetworkPolicy:networkpolicies ServiceCIDR*",
  "node.k8s.io/v1": "RuntimeClass:runtimeclasses*",
  "policy/v1": "PodDisruptionBudget",
  "rbac.authorization.k8s.io/v1": "ClusterRole* ClusterRoleBinding* Role RoleBinding",
  "resource.k8s.io/v1":
    "DeviceClass:deviceclasses* ResourceClaim ResourceClaimTemplate ResourceSlice*",
  "scheduling.k8s.io/v1": "PriorityClass:priorityclasses*",
  "storage.k8s.io/v1":
    "CSIDriver* CSINode* CSIStorageCapacity:csistoragecapacities StorageClass:storageclasses* VolumeAttachment* VolumeAttributesClass:volumeattributesclasses*",
};

/** Whether Kubernetes itself serves resources of an API version. */
export function isBuiltInVersion(apiVersion: string): boolean {
  return Object.hasOwn(KINDS, apiVersion);
}

/**
 * A resource that Kubernetes itself serves, by API version and kind.
 *
 * @param apiVersion - for example `v1` or `apps/v1`
 * @param kind - for example `ConfigMap`
 * @returns the resource
 * @throws RangeError for a kind that Kubernetes 1.36 does not serve in a stable version; describe others
 * with `customResource`
 *
 * @example
 * ```ts
 * import { builtIn } from "@holdfast/kubernetes";
 *
 * console.log(builtIn("apps/v1", "Deployment").plural); // => deployments
 * ```
 */
export function builtIn<T extends KubeObject>(apiVersion: string, kind: string): Resource<T> {
  requireText("apiVersion", apiVersion);
  requireText("kind", kind);
  const known = Object.hasOwn(KINDS, apiVersion) ? (KINDS[apiVersion] as string) : "";
  for (const entry of known.split(" ")) {
    const scope = entry.endsWith("*") ? "Cluster" : "Namespaced";
    const [name = "", plural = `${name.toLowerCase()}s`] = entry.replace("*", "").split(":");
    if (name === "" || name !== kind) continue;
    const [version, group = ""] = apiVersion.split("/").reverse() as [string, string?];
    return Object.freeze({ apiVersion, group, version, kind, plural, scope });
  }
  throw new RangeError(
    `apiVersion and kind must name a built-in resource, got ${JSON.stringify(`${apiVersion} ${kind}`)}: describe a custom one with customResource()`,
  );
}
