// A transport of the scripts' own, so that recordings do not depend on the code that they test.
import { request } from "node:https";
import type { Send } from "./run-script.ts";

/** Address of a server and a caller's token. */
export interface Access {
  readonly url: string;

  /** Certificate of the authority, PEM. */
  readonly ca: string;

  readonly token: string;
}

/** A transport that makes a connection for each request. */
export function httpsSend({ url, ca, token }: Access): Send {
  return async ({ method, path, headers, body }, signal) =>
    await new Promise((resolve, reject) => {
      const outgoing = request(`${url}${path}`, {
        method,
        ca,
        signal,
        agent: false,
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          // Without a length Node sends the body of a DELETE so that a server does not see it.
          ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        },
      });
      outgoing.on("error", reject);
      outgoing.on("response", (response) =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response }),
      );
      outgoing.end(body);
    });
}
