import { isEqual, isObject, type JsonObject, without } from "@holdfast/kit/kubernetes";
import { NAMESPACE_NAME, selectorOf } from "./hook-options.ts";
import type { Webhook, WebhookConfiguration } from "./webhook.ts";
import { configurationName, secretOf } from "./webhooks-options.ts";

/** Options for {@link webhookManifests}. */
export interface WebhookManifestsOptions {
  readonly hooks: readonly Webhook[];
  /** Names of the definitions whose objects are converted. */
  readonly converted: readonly string[];
  readonly service: string;
  readonly namespace: string;
  /** Name of a Certificate of cert-manager, and of its Secret. Undefined for the certificates of the operator. */
  readonly certificate: string | undefined;
}

/** Port of the Service, and of the server behind it. */
const PORT = 443;
const TARGET_PORT = 9_443;

const OTHERS = selectorOf({ [NAMESPACE_NAME]: { not: ["kube-system"] } });

/** The objects that webhooks need in a cluster, by the names of their files. None of them has a `caBundle`. */
export function webhookManifests(options: WebhookManifestsOptions): Map<string, object> {
  const { hooks, converted, service, namespace, certificate } = options;
  const of = (wanted: WebhookConfiguration["type"]): readonly Webhook[] =>
    hooks.filter(({ configuration }) => configuration.type === wanted);
  const files: [string, object | undefined][] = [
    ["validating-webhooks", configuration("Validating", of("validating"), options)],
    ["mutating-webhooks", configuration("Mutating", of("mutating"), options)],
    ["webhook-service", serviceOf(service, namespace)],
    ["webhook-role", roleOf(options)],
    ["webhook-cluster-role", certificate === undefined ? clusterRoleOf(options) : undefined],
  ];
  if (hooks.length + converted.length === 0) return new Map();
  return new Map(files.flatMap(([name, object]) => (object === undefined ? [] : [[name, object]])));
}

/** A definition with the address of its conversions, if it has any. */
export function addressed(
  crd: object,
  { service, namespace, certificate }: Omit<WebhookManifestsOptions, "hooks" | "converted">,
): object {
  const { metadata, spec } = crd as { metadata: JsonObject; spec: JsonObject };
  const { conversion } = spec as { conversion: { webhook: { clientConfig: JsonObject } } };
  const { webhook } = conversion;
  const address = { ...(webhook.clientConfig["service"] as object), name: service, namespace };
  return {
    ...crd,
    metadata: { ...metadata, ...annotationsOf(namespace, certificate, metadata) },
    spec: {
      ...spec,
      conversion: {
        ...conversion,
        webhook: { ...webhook, clientConfig: { ...webhook.clientConfig, service: address } },
      },
    },
  };
}

/** Whether the objects of a definition are converted by a webhook. */
export function isConverted(crd: object): boolean {
  const { spec } = crd as { spec?: { conversion?: { strategy?: unknown; webhook?: unknown } } };
  return spec?.conversion?.strategy === "Webhook" && isObject(spec.conversion.webhook);
}

function annotationsOf(
  namespace: string,
  certificate: string | undefined,
  { annotations }: JsonObject = {},
): object {
  if (certificate === undefined) return {};
  const injected = { "cert-manager.io/inject-ca-from": `${namespace}/${certificate}` };
  return { annotations: { ...(isObject(annotations) && annotations), ...injected } };
}

function configuration(
  type: "Validating" | "Mutating",
  hooks: readonly Webhook[],
  { service, namespace, certificate }: WebhookManifestsOptions,
): object | undefined {
  if (hooks.length === 0) return undefined;
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${type}WebhookConfiguration`,
    metadata: {
      name: configurationName({ service, namespace }),
      ...annotationsOf(namespace, certificate),
    },
    webhooks: hooks.map((hook) => {
      const { name, ...rest } = without({ ...hook.configuration }, "type") as {
        name: string;
        namespaceSelector?: object;
      };
      const { namespaceSelector: selector } = rest;
      // Its own pods must start while it is down.
      const isOfOthers = selector !== undefined && isEqual(selector, OTHERS);
      const but = selectorOf({ [NAMESPACE_NAME]: { not: ["kube-system", namespace] } });
      return {
        name,
        admissionReviewVersions: ["v1"],
        clientConfig: { service: { name: service, namespace, path: `/${name}`, port: PORT } },
        ...rest,
        ...(isOfOthers && { namespaceSelector: but }),
      };
    }),
  };
}

function serviceOf(name: string, namespace: string): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { selector: { app: name }, ports: [{ port: PORT, targetPort: TARGET_PORT }] },
  };
}

function roleOf({ service, namespace, certificate }: WebhookManifestsOptions): object {
  const of = { apiGroups: [""], resources: ["secrets"] };
  const reading = ["get", "list", "watch"];
  const rules =
    certificate === undefined
      ? [
          { ...of, resourceNames: [secretOf({ service })], verbs: [...reading, "update"] },
          { ...of, verbs: ["create"] }, // which has no name before
        ]
      : [{ ...of, resourceNames: [certificate], verbs: reading }];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    // The role of the operator itself may have the name of its Service.
    metadata: { name: secretOf({ service }), namespace },
    rules,
  };
}

function clusterRoleOf(options: WebhookManifestsOptions): object {
  const { hooks, converted } = options;
  const verbs = ["get", "list", "watch", "patch"];
  const types = new Set(hooks.map(({ configuration: { type } }) => type));
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: configurationName(options) },
    rules: [
      ...(types.size === 0
        ? []
        : [
            {
              apiGroups: ["admissionregistration.k8s.io"],
              resources: [...types].sort().map((type) => `${type}webhookconfigurations`),
              resourceNames: [configurationName(options)],
              verbs,
            },
          ]),
      ...(converted.length === 0
        ? []
        : [
            {
              apiGroups: ["apiextensions.k8s.io"],
              resources: ["customresourcedefinitions"],
              resourceNames: [...converted],
              verbs,
            },
          ]),
    ],
  };
}
