import { type ClientHttp2Session, connect } from "node:http2";
import { onAbort } from "@holdfast/clock";

/**
 * Opens an HTTP/2 session, and resolves when the peer's SETTINGS have come.
 *
 * The `connect` event of a session comes too early: it tells of the TCP connection, which a peer that
 * hangs or resets gives as well. An abort destroys the session and rejects with `signal.reason`.
 */
export function connectHttp2(url: string, signal: AbortSignal): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const session = connect(url);
    const fail = (error: unknown): void => {
      subscription[Symbol.dispose]();
      reject(error);
      session.destroy();
    };
    const subscription = onAbort(signal, fail);
    session.on("error", fail);
    session.once("close", () => fail(new Error("closed before its SETTINGS frame")));
    session.once("remoteSettings", () => {
      subscription[Symbol.dispose]();
      resolve(session);
    });
  });
}

/** Resolves when a session has ended, whichever way; an abort closes it. */
export async function sessionEnd(session: ClientHttp2Session, signal: AbortSignal): Promise<void> {
  if (session.destroyed) return;
  using _closing = onAbort(signal, () => session.close());
  await new Promise<void>((resolve) => session.once("close", resolve));
}
