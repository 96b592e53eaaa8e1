import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { abortable, type Clock, onAbort } from "@holdfast/clock";
import { TerminalError } from "@holdfast/wait";
import { InvalidArgumentError } from "commander";
import { shellLaunch } from "./arguments.ts";
import { type HttpOptions, httpCheck } from "./http-check.ts";
import { addressesOf, firstOf, reasonOf } from "./network.ts";
import { ProcessGroup } from "./process-group.ts";
import { fileState, lookup, resolveName } from "./system-call.ts";

/** A thing to wait for. */
export interface Target {
  /** For messages: without credentials, query, and the arguments of a command. */
  readonly name: string;
  /** Whether something answers before it is started shows that another process has its place. */
  readonly isServer: boolean;
  /**
   * Checks once. Resolves when the target is ready; rejects with the reason why not, with `signal.reason` on
   * abort, and with a TerminalError if waiting cannot help.
   */
  check(signal: AbortSignal): Promise<void>;
}

/** Options for {@link createTarget}. */
export interface TargetOptions extends HttpOptions {
  readonly clock: Clock;
  /** Whether to wait until the target is gone. */
  readonly not: boolean;
  /** Directory and additional variables of a command; those of this process by default. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Receives a process of a command that cannot be stopped. */
  readonly onProblem: (message: string) => void;
}

/** How long a TCP connection must stay open, in milliseconds: a proxy accepts before its server is there. */
const STAYS_OPEN = 100;

const EXAMPLES =
  "tcp:5432, tcp:HOST:PORT, http://HOST, https://HOST, unix:PATH, file:PATH, dns:NAME or exec:LINE";

/** @throws InvalidArgumentError for a bad scheme, port or URL */
export function createTarget(text: string, options: TargetOptions): Target {
  if (/^https?:\/\//i.test(text)) return httpTarget(text, options);
  const [, scheme, rest = ""] = /^([a-z]+):(.*)$/s.exec(text) ?? [];
  if (rest === "" && scheme !== undefined) bad(text, "has nothing after its scheme");
  switch (scheme) {
    case "tcp":
      return tcpTarget(text, rest, options);
    case "unix":
      return unixTarget(rest);
    case "file":
      return fileTarget(rest, options);
    case "dns":
      return dnsTarget(rest);
    case "exec":
      return execTarget(rest, options);
    default:
      return bad(text, `is no target, such as ${EXAMPLES}`);
  }
}

function bad(text: string, problem: string): never {
  // The text may hold a password: not more than its beginning up to it.
  throw new InvalidArgumentError(`${text.replace(/(:\/\/|:).*@/s, "$1…@")} ${problem}.`);
}

// ── tcp, unix ──

function tcpTarget(text: string, rest: string, { clock }: TargetOptions): Target {
  const [, host = "localhost", digits = ""] =
    /^(?:(?:\/\/)?(\[[^\]]+\]|[^:]+):)?(\d+)$/.exec(rest) ?? [];
  const port = Number(digits);
  if (digits === "" || port < 1 || port > 65_535)
    bad(text, "needs a port from 1 to 65535: tcp:PORT or tcp:HOST:PORT");
  const addresses = addressesOf(host.replace(/^\[|\]$/g, ""));
  return {
    name: `tcp:${host}:${port}`,
    isServer: true,
    check: (signal) =>
      explained(
        firstOf(addresses, signal, (address, own) =>
          staysOpen(connect({ host: address, port, lookup }), clock, own),
        ),
        signal,
      ),
  };
}

function unixTarget(path: string): Target {
  return {
    name: `unix:${path}`,
    isServer: true,
    check: (signal) => explained(accepts(path, signal), signal),
  };
}

async function accepts(path: string, signal: AbortSignal): Promise<void> {
  await fileState(path); // On a file system that hangs, `connect` would stop this process.
  const socket = connect({ path });
  await connected(socket, signal).finally(() => socket.destroy());
}

/** Turns an error of the network into a few words. */
async function explained(check: Promise<void>, signal: AbortSignal): Promise<void> {
  await check.catch((error: unknown) => {
    throw signal.aborted ? signal.reason : new Error(reasonOf(error));
  });
}

/** The caller destroys the socket. */
async function connected(socket: Socket, signal: AbortSignal): Promise<void> {
  await abortable(() => once(socket, "connect"), signal);
}

async function staysOpen(socket: Socket, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await connected(socket, signal);
    const closed = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error("connection closed at once"));
      socket.once("end", fail).once("close", fail).once("error", fail).resume();
    });
    closed.catch(() => undefined);
    await Promise.race([clock.sleep(STAYS_OPEN, { signal }), closed]);
  } finally {
    socket.destroy();
  }
}

function httpTarget(text: string, options: TargetOptions): Target {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === "") return bad(text, "is no valid URL");
  const name = `${url.protocol}//${url.host}${url.pathname}`;
  return { name, isServer: true, check: httpCheck(url, options) };
}

// ── file, dns, exec ──

function fileTarget(path: string, { not }: TargetOptions): Target {
  let previous: string | undefined;
  const check = async (): Promise<void> => {
    const found = await fileState(path).catch((error: unknown) => {
      previous = undefined;
      throw new Error(reasonOf(error));
    });
    if (found.isDirectory) throw new Error("is a directory");
    const now = `${found.size} ${found.mtimeMs}`;
    const isStable = now === previous || not;
    previous = now;
    if (!isStable) throw new Error("may still be written");
  };
  return { name: `file:${path}`, isServer: false, check };
}

function dnsTarget(name: string): Target {
  const check = async (): Promise<void> => {
    await resolveName(name).catch((error: unknown) => {
      throw new Error(reasonOf(error));
    });
  };
  return { name: `dns:${name}`, isServer: false, check };
}

/** A check by a command: its group is empty before the next check starts. */
function execTarget(line: string, { clock, cwd, env, onProblem }: TargetOptions): Target {
  const [word = ""] = line.trim().split(/\s/);
  const isPlain = /^[\w./-]+$/.test(word);
  const name = `exec:${isPlain ? word : ""}${isPlain && word === line ? "" : "…"}`;
  let last: Promise<void> = Promise.resolve();
  const check = async (signal: AbortSignal): Promise<void> => {
    await last;
    signal.throwIfAborted();
    const group = ProcessGroup.start(shellLaunch(line), {
      stdio: "ignore",
      env,
      cwd,
      keepsTerminal: false,
      clock,
      onProblem: (message) => onProblem(`${name}: ${message}`),
    });
    last = group.exited.then(async () => {
      await group.stop(0);
      if (group.problem !== undefined) throw new TerminalError("an earlier check runs still");
    });
    last.catch(() => undefined); // The next check tells it.
    using _ = onAbort(signal, () => void group.killAfter(0));
    const { code, problem } = await group.exited;
    signal.throwIfAborted();
    if (code !== 0) throw new Error(problem ?? `exit ${code}`);
  };
  return { name, isServer: false, check };
}
