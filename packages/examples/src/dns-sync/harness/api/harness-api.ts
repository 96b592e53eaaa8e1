import type { KubeClient, KubeTransport } from "@holdfast/kubernetes";

/** Address and credentials of the API server for a child process. */
export type ApiAccess =
  | { readonly kind: "url"; readonly url: string; readonly token?: string; readonly ca?: string }
  /** The address and credentials of kubectl. */
  | { readonly kind: "kubectl" };

/** Faults that the harness inflicts on an API server. */
interface ApiControl {
  /** Stops the server without warning, like a crash. */
  stop(): Promise<void>;
  /** Restarts the server without its watch history. */
  start(): Promise<void>;
  /** Compacts the watch history and closes all watches. */
  compact(): Promise<void>;
}

/** The API server of a run. */
export interface HarnessApi extends AsyncDisposable {
  /** Display name. */
  readonly name: string;
  readonly namespace: string;
  /** Transport of the harness itself. */
  readonly transport: KubeTransport;
  readonly client: KubeClient;
  /** Access for the child processes. */
  readonly access: ApiAccess;
  /** Arguments for kubectl to reach the server. */
  readonly kubectl: string;
  /** Undefined for an existing cluster. */
  readonly control: ApiControl | undefined;
}
