import { FakeClock } from "@holdfast/clock/testing";
import { FakeApi } from "@holdfast/fake-apiserver";
import { builtIn } from "@holdfast/kubernetes";
import { describe, expect, it } from "vitest";

interface Row {
  readonly apiVersion: string;
  readonly kind: string;
  /** Fields of the object `full`; the object `bare` has none of them. */
  readonly fields: Record<string, unknown>;
  /** Fields of both objects. */
  readonly common?: Record<string, unknown>;
  /** By selector: the names of the objects that a list with it has. */
  readonly selected: Record<string, readonly string[]>;
}

// The facts are those of Kubernetes 1.36: AddFieldLabelConversionFunc and ToSelectableFields of its packages.
const rows: readonly Row[] = [
  {
    apiVersion: "v1",
    kind: "Pod",
    fields: {
      spec: {
        nodeName: "n1",
        restartPolicy: "Always",
        schedulerName: "s",
        serviceAccountName: "a",
        hostNetwork: true,
      },
      status: {
        phase: "Running",
        podIP: "10.0.0.9",
        podIPs: [{ ip: "10.0.0.1" }],
        nominatedNodeName: "n2",
      },
    },
    selected: {
      "spec.nodeName=n1": ["full"],
      "spec.nodeName=": ["bare"],
      "spec.nodeName!=n1": ["bare"],
      "spec.host=n1": ["full"],
      "spec.restartPolicy=Always": ["full"],
      "spec.schedulerName=s": ["full"],
      "spec.serviceAccountName=a": ["full"],
      "spec.hostNetwork=true": ["full"],
      "spec.hostNetwork=false": ["bare"],
      "status.phase!=Running,metadata.namespace=default": ["bare"],
      "status.podIP=10.0.0.1": ["full"],
      "status.podIPs=10.0.0.1": [],
      "status.nominatedNodeName=n2": ["full"],
    },
  },
  {
    apiVersion: "v1",
    kind: "Node",
    fields: { spec: { unschedulable: true } },
    selected: { "spec.unschedulable=true": ["full"], "spec.unschedulable=false": ["bare"] },
  },
  {
    apiVersion: "v1",
    kind: "Namespace",
    fields: { status: { phase: "Terminating" } },
    selected: { "status.phase=Terminating": ["full"], "status.phase!=Terminating": ["bare"] },
  },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    fields: { status: { replicas: 2 } },
    selected: { "status.replicas=2": ["full"], "status.replicas=0": ["bare"] },
  },
  {
    apiVersion: "v1",
    kind: "Secret",
    fields: { type: "kubernetes.io/tls" },
    selected: { "type=kubernetes.io/tls": ["full"], "type!=kubernetes.io/tls": ["bare"] },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    fields: { spec: { clusterIP: "None", type: "ClusterIP" } },
    selected: { "spec.clusterIP=None": ["full"], "spec.type=ClusterIP": ["full"] },
  },
  {
    apiVersion: "v1",
    kind: "Event",
    fields: {
      involvedObject: { kind: "Pod", namespace: "default", name: "p", uid: "u" },
      reason: "R",
      type: "Warning",
      source: { component: "kubelet" },
    },
    selected: {
      "involvedObject.kind=Pod,involvedObject.name=p,involvedObject.uid=u": ["full"],
      "reason=R,type=Warning": ["full"],
      "source=kubelet": ["full"],
    },
  },
  {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    common: {
      eventTime: "2026-01-01T00:00:00.000000Z",
      reportingInstance: "i",
      reportingController: "example.org/other",
      action: "Act",
      reason: "Other",
      type: "Normal",
    },
    fields: {
      regarding: { kind: "Pod", namespace: "default", name: "p" },
      reason: "R",
      reportingController: "example.org/c",
    },
    selected: {
      "regarding.kind=Pod,regarding.name=p": ["full"],
      "reportingController=example.org/c,reason=R": ["full"],
      "source=example.org/c": ["full"],
    },
  },
  {
    apiVersion: "batch/v1",
    kind: "Job",
    fields: { status: { succeeded: 3 } },
    selected: { "status.successful=3": ["full"], "status.successful=0": ["bare"] },
  },
  {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    fields: { spec: { signerName: "example.org/s" } },
    selected: { "spec.signerName=example.org/s": ["full"] },
  },
];

const refused: readonly (readonly [string, string, string, string])[] = [
  ["v1", "Pod", "spec.hostname=a", "field label not supported: spec.hostname"],
  ["v1", "Node", "metadata.namespace=a", "field label not supported: metadata.namespace"],
  ["v1", "Event", "regarding.kind=Pod", "field label not supported: regarding.kind"],
  [
    "v1",
    "ConfigMap",
    "data.a=b",
    '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    "v1",
    "ConfigMap",
    "data.a!!=b",
    '"data.a!" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
];

async function namesOf(
  apiVersion: string,
  kind: string,
  objects: Readonly<Record<string, object>>,
  fieldSelector: string,
) {
  const clock = new FakeClock();
  const resource = builtIn(apiVersion, kind);
  const { client } = new FakeApi({ clock, resources: [resource] });
  const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
  const isNamespaced = resource.scope === "Namespaced";
  const path = `${root}${isNamespaced ? "/namespaces/default" : ""}/${resource.plural}`;
  return await clock.run(async () => {
    for (const [name, more] of Object.entries(objects)) {
      await client.request({ method: "POST", path, body: { metadata: { name }, ...more } });
      // A status is written apart.
      if ("status" in more)
        await client.request({
          method: "PATCH",
          path: `${path}/${name}/status`,
          contentType: "application/merge-patch+json",
          body: { status: more.status },
        });
    }
    const list = await client.request<{ items: { metadata: { name: string } }[] }>({
      path,
      query: { fieldSelector },
    });
    return list.items.map(({ metadata }) => metadata.name);
  });
}

describe("FakeApi selects objects of built-in kinds by the fields that Kubernetes has for them", () => {
  for (const { apiVersion, kind, fields, common = {}, selected } of rows)
    it.each(Object.entries(selected))(`${apiVersion} ${kind}: %s`, async (selector, names) => {
      const objects = { full: { ...common, ...fields }, bare: common };
      expect(await namesOf(apiVersion, kind, objects, selector)).toEqual(names);
    });

  it.each(refused)("refuses %s %s by %s", async (apiVersion, kind, selector, message) => {
    await expect(namesOf(apiVersion, kind, {}, selector)).rejects.toThrow(message);
  });
});
