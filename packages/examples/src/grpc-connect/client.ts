import type { ClientHttp2Session } from "node:http2";
import type { Clock } from "@holdfast/clock";
import type { Random } from "@holdfast/wait";
import { type ConnectAttempt, keepConnected } from "@holdfast/wait/connect";
import { GrpcBackoff } from "@holdfast/wait/strategies";
import type { ClientEvent } from "./attempt.ts";
import { connectHttp2, sessionEnd } from "./connect-http2.ts";
import type { Peer } from "./peer.ts";
import type { ScriptedPeer } from "./script.ts";

/** The numbers of the protocol, and of this demonstration. Durations are in milliseconds. */
export interface ClientOptions {
  readonly clock: Clock;
  readonly peer: Peer;
  readonly scripted: ScriptedPeer;
  readonly report: (event: ClientEvent) => void;
  /** The first delay. */
  readonly initial: number;
  readonly minConnectTimeout: number;
  /** How long a connection lasts before the peer dies. */
  readonly hold: number;
  readonly random?: Random | undefined;
}

/** Stays connected to a peer until its script is over, or `stop` aborts. */
export async function client(options: ClientOptions, stop: AbortController): Promise<void> {
  const { clock, peer, scripted, report, initial, minConnectTimeout, hold, random } = options;

  const connect = ({ attempt, startedAt, delay, signal }: ConnectAttempt) => {
    report({ type: "started", at: startedAt, behaviour: scripted.behaviour, attempt, delay });
    return connectHttp2(`http://127.0.0.1:${peer.port}`, signal);
  };

  const use = async (session: ClientHttp2Session, signal: AbortSignal): Promise<void> => {
    report({ type: "accepted", at: clock.monotonic(), delay: initial });
    const lost = sessionEnd(session, signal).then(() => {
      report({ type: "lost", at: clock.monotonic() });
    });
    try {
      await clock.sleep(hold, { signal });
      await scripted.advance();
    } finally {
      await lost;
    }
    if (scripted.isOver) stop.abort();
  };

  await keepConnected(connect, use, {
    signal: stop.signal,
    backoff: new GrpcBackoff({ duration: initial, cap: 20 * initial, random }),
    minConnectTimeout,
    resetAfter: 0, // as in gRPC, which resets the delays when the peer accepts
    random: () => 0,
    clock,
    onRetry: async ({ error, delay }) => {
      report({ type: "failed", at: clock.monotonic(), error, delay });
      await scripted.attemptFailed();
      if (scripted.isOver) stop.abort();
    },
    onLate: (session) => session.destroy(),
  });
}
