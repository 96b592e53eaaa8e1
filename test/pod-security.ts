/** The fields of a container that Pod Security looks at. */
interface Container {
  readonly ports?: readonly { readonly hostPort?: number }[];
  readonly securityContext?: SecurityContext;
  readonly livenessProbe?: Handler;
  readonly readinessProbe?: Handler;
  readonly startupProbe?: Handler;
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
}

interface Handler {
  readonly httpGet?: { readonly host?: string };
  readonly tcpSocket?: { readonly host?: string };
}

interface SecurityContext {
  readonly windowsOptions?: { readonly hostProcess?: boolean };
  readonly privileged?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly appArmorProfile?: { readonly type: string };
  readonly seLinuxOptions?: {
    readonly type?: string;
    readonly user?: string;
    readonly role?: string;
  };
  readonly procMount?: string;
  readonly seccompProfile?: { readonly type: string };
  readonly sysctls?: readonly { readonly name: string }[];
  readonly allowPrivilegeEscalation?: boolean;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
}

/** The fields of a pod that Pod Security looks at. */
export interface PodTemplate {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly hostNetwork?: boolean;
    readonly hostPID?: boolean;
    readonly hostIPC?: boolean;
    readonly volumes?: readonly object[];
    readonly securityContext?: SecurityContext;
    readonly containers: readonly Container[];
    readonly initContainers?: readonly Container[];
  };
}

const VOLUMES = [
  ...["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image"],
  ...["persistentVolumeClaim", "projected", "secret"],
];
const SELINUX = ["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];
const SYSCTLS = [
  ...[
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_unprivileged_port_start",
  ],
  ...["net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"],
  ...["net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"],
  ...["net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"],
];

const containersOf = ({ spec }: PodTemplate) => [
  ...spec.containers,
  ...(spec.initContainers ?? []),
];

/** Whether the rule holds for the pod's own context and for that of each container. */
const each = (rule: (context: SecurityContext) => boolean) => (pod: PodTemplate) =>
  [pod.spec, ...containersOf(pod)].every(({ securityContext = {} }) => rule(securityContext));

/** Whether the rule holds for each container, with the pod's context where the container has no value of its own. */
const effective = (rule: (context: SecurityContext) => boolean) => (pod: PodTemplate) =>
  containersOf(pod).every(({ securityContext }) =>
    rule({ ...pod.spec.securityContext, ...securityContext }),
  );

const isHostFree = (handler?: Handler) => !handler?.httpGet?.host && !handler?.tcpSocket?.host;

/**
 * The controls of the Pod Security Standard "restricted", those of "baseline" included, by their names at
 * https://kubernetes.io/docs/concepts/security/pod-security-standards.
 */
export const RESTRICTED: Readonly<Record<string, (pod: PodTemplate) => boolean>> = {
  HostProcess: each(({ windowsOptions }) => windowsOptions?.hostProcess !== true),
  "Host Namespaces": ({ spec }) => !spec.hostNetwork && !spec.hostPID && !spec.hostIPC,
  "Privileged Containers": each(({ privileged }) => privileged !== true),
  Capabilities: (pod) =>
    containersOf(pod).every(
      ({ securityContext: { capabilities } = {} }) =>
        capabilities?.drop?.includes("ALL") === true &&
        (capabilities.add ?? []).every((name) => name === "NET_BIND_SERVICE"),
    ),
  "HostPath Volumes": ({ spec }) => (spec.volumes ?? []).every((one) => !("hostPath" in one)),
  "Host Ports": (pod) =>
    containersOf(pod).every(({ ports = [] }) => ports.every(({ hostPort = 0 }) => hostPort === 0)),
  "Host Probes / Lifecycle Hooks": (pod) =>
    containersOf(pod).every(({ livenessProbe, readinessProbe, startupProbe, lifecycle }) =>
      [
        ...[livenessProbe, readinessProbe, startupProbe],
        ...[lifecycle?.postStart, lifecycle?.preStop],
      ].every(isHostFree),
    ),
  AppArmor: (pod) =>
    each(({ appArmorProfile }) => appArmorProfile?.type !== "Unconfined")(pod) &&
    Object.entries(pod.metadata?.annotations ?? {}).every(
      ([name, value]) =>
        !name.startsWith("container.apparmor.security.beta.kubernetes.io/") ||
        /^(runtime\/default|localhost\/.*)$/.test(value),
    ),
  SELinux: each(
    ({ seLinuxOptions: { type = "", user = "", role = "" } = {} }) =>
      SELINUX.includes(type) && user === "" && role === "",
  ),
  "/proc Mount Type": each(({ procMount = "Default" }) => procMount === "Default"),
  Sysctls: each(({ sysctls = [] }) => sysctls.every(({ name }) => SYSCTLS.includes(name))),
  "Volume Types": ({ spec }) =>
    (spec.volumes ?? []).every((volume) =>
      Object.keys(volume).every((field) => field === "name" || VOLUMES.includes(field)),
    ),
  "Privilege Escalation": (pod) =>
    containersOf(pod).every(
      ({ securityContext }) => securityContext?.allowPrivilegeEscalation === false,
    ),
  "Running as Non-root": effective(({ runAsNonRoot }) => runAsNonRoot === true),
  "Running as Non-root user": each(({ runAsUser }) => runAsUser !== 0),
  Seccomp: effective(({ seccompProfile }) =>
    ["RuntimeDefault", "Localhost"].includes(seccompProfile?.type ?? ""),
  ),
};
