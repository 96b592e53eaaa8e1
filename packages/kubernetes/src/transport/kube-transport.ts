/** A request to an API server. */
export interface KubeRequest {
  /** HTTP method in capitals. */
  readonly method: string;

  /** Path with its query, as sent. */
  readonly path: string;

  /** Headers by name in lower case, without those of authentication. */
  readonly headers: Readonly<Record<string, string>>;

  /** Body, if there is one. */
  readonly body?: string | undefined;

  /**
   * Called when the request has its connection, and before its first byte. An error that it throws is that of `send`, and
   * nothing is sent. An operator asks here once more whether its lease is held: a connection may take longer than that. If
   * it returns a promise, as while an operator is recorded, nothing is sent before that resolves.
   */
  readonly beforeSend?: (() => void | Promise<void>) | undefined;
}

/** The head of a response, and its body as it arrives. */
export interface KubeResponse {
  /** HTTP status code. */
  readonly status: number;

  /** Headers by name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;

  /**
   * Chunks of the body, to be iterated once. Leaving the iteration early closes the connection. After an abort
   * of the request's signal the iteration rejects with `signal.reason`.
   */
  readonly body: AsyncIterable<Uint8Array>;

  /** Takes the credentials that were sent out of a text of the server, for errors and logs. Default: there are none. */
  readonly hide?: ((text: string) => string) | undefined;
}

/** The way to an API server: its address, its certificate and the caller's credentials. */
export interface KubeTransport {
  /** Address and origin of the credentials, for errors and logs. Without any secret. */
  readonly description: string;

  /** Namespace of the pod or of the kubeconfig's context, if known. A context without one has `default`. */
  readonly namespace?: string | undefined;

  /**
   * Sends a request.
   *
   * @param request - see {@link KubeRequest}
   * @param signal - aborts the request, its body included
   * @returns resolves when the head has arrived, with any status. Rejects with `signal.reason` after an
   * abort, else with the error of the connection
   */
  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse>;

  /**
   * Closes the connections that no request uses. Later requests open new ones.
   *
   * @returns resolves when they are closed, and those of requests that were aborted before the call
   */
  closeIdle?(): Promise<void>;
}
