/** The error of a socket, as Node has it. */
export function connectionError(code: "ECONNREFUSED" | "ECONNRESET"): Error {
  const message = code === "ECONNRESET" ? "read ECONNRESET" : "connect ECONNREFUSED";
  return Object.assign(new Error(`${message} (FakeApi)`), { code });
}
