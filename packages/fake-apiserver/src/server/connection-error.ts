import { ConnectionError, type KubeRequest } from "@holdfast/kubernetes";

/** Description of the transport of a `FakeApi`. */
export const DESCRIPTION = "FakeApi";

/** The parts of a request that its errors name. */
export type NamedRequest = Pick<KubeRequest, "method" | "path">;

/** The error of a broken connection, as a transport over HTTP has it, with that of Node as its cause. */
export function connectionError(
  code: "ECONNREFUSED" | "ECONNRESET",
  request: NamedRequest,
): ConnectionError {
  const message = code === "ECONNRESET" ? "read ECONNRESET" : "connect ECONNREFUSED";
  const cause = Object.assign(new Error(message), { code });
  return new ConnectionError(request, DESCRIPTION, cause);
}
