import { isObject, type JsonObject, valueAt } from "../../object/json.ts";
import { type FieldReader, fieldAt } from "./field-selector.ts";
import { SelectorError } from "./label-selector.ts";

const NAME = "metadata.name";
const NAMESPACE = "metadata.namespace";

/**
 * The fields, besides name and namespace, by which a server selects objects of built-in kinds: those of Kubernetes 1.36,
 * from `AddFieldLabelConversionFunc` and `ToSelectableFields` of its packages. A text after `=` stands for a missing
 * field.
 */
const BUILT_IN: Readonly<Record<string, string>> = {
  "v1 Event":
    "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath reason reportingComponent source type",
  "v1 Namespace": "status.phase",
  "v1 Node": "spec.unschedulable=false",
  "v1 Pod":
    "spec.nodeName spec.host spec.restartPolicy spec.schedulerName spec.serviceAccountName spec.hostNetwork=false status.phase status.podIP status.podIPs status.nominatedNodeName",
  "v1 ReplicationController": "status.replicas=0",
  "v1 Secret": "type",
  "v1 Service": "spec.clusterIP spec.type",
  "batch/v1 Job": "status.successful",
  "certificates.k8s.io/v1 CertificateSigningRequest": "spec.signerName",
  "certificates.k8s.io/v1 ClusterTrustBundle": "spec.signerName",
  "certificates.k8s.io/v1 PodCertificateRequest": "spec.signerName spec.podName spec.nodeName",
  "events.k8s.io/v1 Event":
    "regarding.kind regarding.namespace regarding.name regarding.uid regarding.apiVersion regarding.resourceVersion regarding.fieldPath reason reportingController source type",
  "resource.k8s.io/v1 ResourceSlice": "spec.nodeName spec.driver",
};

/** Fields that a server reads elsewhere than at their name. */
const ELSEWHERE: Readonly<Record<string, FieldReader>> = {
  "v1 Event source": (event) =>
    fieldAt("source.component")(event) || fieldAt("reportingComponent")(event),
  "events.k8s.io/v1 Event source": (event) =>
    fieldAt("deprecatedSource.component")(event) || fieldAt("reportingController")(event),
  "v1 Pod spec.host": fieldAt("spec.nodeName"),
  "v1 Pod status.podIP": firstPodIp,
  // A server takes the name and has no value for it.
  "v1 Pod status.podIPs": () => "",
  "batch/v1 Job status.successful": fieldAt("status.succeeded", "0"),
};

function firstPodIp(pod: JsonObject): string {
  const addresses = valueAt(pod, ["status", "podIPs"]);
  const first: unknown = Array.isArray(addresses) ? addresses[0] : undefined;
  return isObject(first) ? fieldAt("ip")(first) : "";
}

/** The part of a resource that decides which fields are selectable. */
export interface Selectable {
  readonly apiVersion: string;
  readonly kind: string;
  readonly isBuiltIn: boolean;
  readonly isNamespaced: boolean;

  /** Paths that the definition of a custom resource names, as in `spec.color`. */
  readonly selectable: readonly string[];
}

/**
 * The reader of a field for `fieldSelector`.
 *
 * @throws SelectorError for a field by which the server does not select
 */
export function selectableField(of: Selectable, field: string): FieldReader {
  const { apiVersion, kind, isBuiltIn, isNamespaced } = of;
  const type = `${apiVersion} ${kind}`;
  const known = isBuiltIn ? BUILT_IN[type] : undefined;
  const isPlain = isBuiltIn && known === undefined;
  if (field === NAME || (field === NAMESPACE && (isNamespaced || isPlain))) return fieldAt(field);
  const reader = known === undefined ? namedField(of, field) : builtInField(type, known, field);
  if (reader !== undefined) return reader;
  throw new SelectorError(
    isPlain
      ? `${JSON.stringify(field)} is not a known field selector: only "${NAME}", "${NAMESPACE}"`
      : `field label not supported: ${field}`,
  );
}

function namedField({ selectable }: Selectable, field: string): FieldReader | undefined {
  return selectable.includes(field) ? fieldAt(field) : undefined;
}

function builtInField(type: string, known: string, field: string): FieldReader | undefined {
  const found = known.split(" ").find((one) => one.split("=")[0] === field);
  if (found === undefined) return undefined;
  return ELSEWHERE[`${type} ${field}`] ?? fieldAt(field, found.split("=")[1]);
}
