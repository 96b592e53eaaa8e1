import { once } from "node:events";
import type { ClientHttp2Session } from "node:http2";
import { realClock } from "@holdfast/clock";
import { isTimeoutError, poll, type TimeoutError } from "@holdfast/wait";
import {
  type ConnectAttempt,
  type ConnectRetry,
  connectWithBackoff,
  keepConnected,
} from "@holdfast/wait/connect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { survivors } from "../../../../test/processes.ts";
import { canCountSockets, socketsTo } from "../../../../test/sockets-to.ts";
import { connectHttp2, sessionEnd } from "../../src/grpc-connect/connect-http2.ts";
import { type Behaviour, Peer } from "../../src/grpc-connect/peer.ts";

// Processes, sockets and time are real here. A machine that pauses makes things later, never sooner, so
// nothing is said of how late they are.

/** Longer than any pause: an attempt that must not time out does not. */
const NO_HURRY = 50_000;

let peer: Peer;
let stop: AbortController;
/** Every process that played the peer. */
let pids: Set<number>;

beforeEach(async () => {
  peer = await Peer.open();
  stop = new AbortController();
  pids = new Set();
});

async function become(behaviour: Behaviour): Promise<void> {
  await peer.become(behaviour);
  for (const pid of peer.pids) pids.add(pid);
}

/** Fails unless every connection to the peer is closed a moment later. Other tests of this process have others. */
async function expectSocketsClosed(): Promise<void> {
  if (!canCountSockets) return;
  await poll(() => socketsTo(peer.port) === 0, { timeout: 240_000 });
}

afterEach(async () => {
  try {
    await expectSocketsClosed();
  } finally {
    await peer[Symbol.asyncDispose]();
  }
  expect(await survivors([...pids])).toEqual([]);
});

/** A client of the peer that notes what it is told. */
function client() {
  const attempts: ConnectAttempt[] = [];
  const connect = (attempt: ConnectAttempt) => {
    attempts.push(attempt);
    return connectHttp2(`http://127.0.0.1:${peer.port}`, attempt.signal);
  };
  return { attempts, connect };
}

/** From the start of each attempt to the start of the next, and the least that it has to be. */
function gapsOf(attempts: readonly ConnectAttempt[]) {
  return attempts.slice(1).map(({ startedAt }, index) => {
    const { startedAt: before, delay } = attempts[index] as ConnectAttempt;
    return { gap: startedAt - before, delay };
  });
}

const backoff = { duration: 50, factor: 2 };

describe("a peer that", () => {
  it("refuses is retried after each delay, until it accepts", async () => {
    const { attempts, connect } = client();
    const errors: unknown[] = [];
    const onRetry = async ({ error }: ConnectRetry) => {
      errors.push((error as NodeJS.ErrnoException).code);
      if (errors.length === 3) await become("accept");
    };
    const options = { signal: stop.signal, backoff, minConnectTimeout: NO_HURRY, onRetry };
    const session = await connectWithBackoff(connect, options);
    expect(session.remoteSettings.maxFrameSize).toBeGreaterThan(0);
    expect(errors).toEqual(["ECONNREFUSED", "ECONNREFUSED", "ECONNREFUSED"]);
    expect(attempts.map(({ attempt, delay }) => [attempt, delay])).toEqual([
      [1, 50],
      [2, 100],
      [3, 200],
      [4, 400],
    ]);
    for (const { gap, delay } of gapsOf(attempts)) expect(gap).toBeGreaterThanOrEqual(delay);
    session.destroy();
    await once(session, "close");
  });

  it("hangs is given up after the least timeout, and its socket is closed", async () => {
    await become("hang");
    const { attempts, connect } = client();
    const retries: ConnectRetry[] = [];
    const onRetry = (retry: ConnectRetry) => {
      retries.push(retry);
      if (retries.length === 2) stop.abort("seen enough");
    };
    const options = { signal: stop.signal, backoff, minConnectTimeout: 200, onRetry };
    const connecting = connectWithBackoff(connect, options);
    await expect(connecting).rejects.toBe("seen enough");
    expect(retries.map(({ error }) => (error as TimeoutError).timeout)).toEqual([200, 200]);
    expect(retries.map(({ delay }) => delay)).toEqual([0, 0]);
    for (const { gap } of gapsOf(attempts)) expect(gap).toBeGreaterThanOrEqual(200);
    expect(attempts.every(({ signal }) => isTimeoutError(signal.reason))).toBe(true);
    await expectSocketsClosed();
  });

  it("resets is retried: a TCP connection is not a success", async () => {
    await become("reset");
    const { attempts, connect } = client();
    const errors: unknown[] = [];
    const onRetry = ({ error }: ConnectRetry) => {
      errors.push(error);
      if (errors.length === 3) stop.abort("seen enough");
    };
    const options = { signal: stop.signal, backoff, minConnectTimeout: NO_HURRY, onRetry };
    await expect(connectWithBackoff(connect, options)).rejects.toBe("seen enough");
    // Depending on when the reset comes, Node reports it or only closes the session.
    const reset = expect.stringMatching(/ECONNRESET|EPIPE|closed before its SETTINGS frame/);
    expect(errors.map(String)).toEqual([reset, reset, reset]);
    for (const { gap, delay } of gapsOf(attempts)) expect(gap).toBeGreaterThanOrEqual(delay);
  });

  it("dies after accepting is retried from the first delay on", async () => {
    const { attempts, connect } = client();
    let refused = 0;
    let connections = 0;
    const onRetry = async () => {
      if (++refused % 2 === 0) await become("accept");
    };
    const use = async (session: ClientHttp2Session, signal: AbortSignal) => {
      const end = sessionEnd(session, signal);
      if (++connections === 2) stop.abort();
      else await become("refuse");
      await end;
    };
    const always = { resetAfter: 0, random: () => 0 };
    const options = {
      signal: stop.signal,
      backoff,
      minConnectTimeout: NO_HURRY,
      onRetry,
      ...always,
    };
    await keepConnected(connect, use, options);
    expect(attempts.map(({ attempt, delay }) => [attempt, delay])).toEqual([
      [1, 50],
      [2, 100],
      [3, 200],
      [1, 50],
      [2, 100],
      [3, 200],
    ]);
    // The third attempt was accepted, and counts as a first one for that.
    for (const { gap, delay } of gapsOf(attempts))
      expect(gap).toBeGreaterThanOrEqual(delay === 200 ? 50 : delay);
  });

  it("hangs is abandoned at once on a stop", async () => {
    await become("hang");
    const { connect } = client();
    const connecting = connectWithBackoff(connect, { signal: stop.signal });
    realClock.afterFunc(50, () => stop.abort("enough"));
    await expect(connecting).rejects.toBe("enough");
    await expectSocketsClosed();
  });
});

describe("a session", () => {
  it("is not opened for an aborted signal", async () => {
    stop.abort("early");
    await expect(connectHttp2("http://127.0.0.1:1", stop.signal)).rejects.toBe("early");
  });

  it("that is over has ended", async () => {
    await become("accept");
    const session = await connectHttp2(`http://127.0.0.1:${peer.port}`, stop.signal);
    session.destroy();
    await sessionEnd(session, stop.signal);
  });

  it("is closed when its signal aborts", async () => {
    await become("accept");
    const session = await connectHttp2(`http://127.0.0.1:${peer.port}`, stop.signal);
    const end = sessionEnd(session, stop.signal);
    stop.abort();
    await end;
    expect(session.closed).toBe(true);
  });
});

it("a peer rejects with the port in use", async () => {
  await become("accept");
  await expect(Peer.open(peer.port)).rejects.toThrow(
    `the server cannot listen on port ${peer.port}: another program has taken it`,
  );
});
