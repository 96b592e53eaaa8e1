import type { KubeClient, KubeTransport } from "@holdfast/kubernetes";

/** How a child process reaches the API server. */
export type ApiAccess =
  | { readonly kind: "url"; readonly url: string; readonly token?: string; readonly ca?: string }
  /** With the address and the credentials that kubectl uses. */
  | { readonly kind: "kubectl" };

/** What the stage can do to an API server. */
interface ApiControl {
  /** Ends it, as a crash does. */
  stop(): Promise<void>;
  /** Starts it again, without the history of its watches. */
  start(): Promise<void>;
  /** Makes it forget its history, and breaks its watches. */
  compact(): Promise<void>;
}

/** The API server of a run. */
export interface StageApi extends AsyncDisposable {
  /** For people. */
  readonly name: string;
  readonly namespace: string;
  /** The way of the stage itself. */
  readonly transport: KubeTransport;
  readonly client: KubeClient;
  /** The way of the child processes. */
  readonly access: ApiAccess;
  /** Arguments with which kubectl reaches it. */
  readonly kubectl: string;
  /** Undefined for a cluster of others. */
  readonly control: ApiControl | undefined;
}
