// Calls of the system that may take as long as they like: of a name server, or of a network file system. A thread of
// this process that makes one cannot be stopped, and Node waits for its threads when it exits.
import { type ChildProcess, spawn } from "node:child_process";
import { getDefaultResultOrder, type LookupAddress, type LookupAllOptions } from "node:dns";
import type { LookupFunction } from "node:net";

/** What a call asks for. */
type Request =
  | { readonly name: string; readonly options: LookupAllOptions }
  | { readonly path: string };

/** Size, age and kind of a file. */
interface FileState {
  readonly size: number;
  readonly mtimeMs: number;
  readonly isDirectory: boolean;
}

interface Answer {
  readonly id: string;
  readonly error: { readonly code?: string; readonly message: string } | null;
  readonly value: unknown;
}

/** Makes the calls. Its own threads may hang as well: it ends by SIGKILL. */
const PROGRAM = `
const { lookup } = require("node:dns");
const { stat } = require("node:fs");
process.on("message", ({ id, request: { name, options, path } }) => {
  const answer = (error, value) =>
    process.send({ id, error: error && { code: error.code, message: error.message }, value });
  if (path === undefined) lookup(name, options, answer);
  else
    stat(path, (error, found) => {
      const isDirectory = found?.isDirectory();
      answer(error, found && { size: found.size, mtimeMs: found.mtimeMs, isDirectory });
    });
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
`;
/** Half of the threads look names up, so many names may hang before another one waits. */
const THREADS = "128";

interface Call {
  readonly answer: Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

let caller: ChildProcess | undefined;
/** The calls under way: none is made twice at a time. */
const calls = new Map<string, Call>();

process.once("exit", () => caller?.kill("SIGKILL"));

/** A process that makes the calls, and that this process leaves behind without a wait. */
function startCaller(): ChildProcess {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const started = spawn(process.execPath, ["-e", PROGRAM], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    detached: true, // A Ctrl-C of the terminal is for holdfast.
    env: { ...env, UV_THREADPOOL_SIZE: THREADS },
  });
  const fail = (error: Error): void => {
    if (caller !== started) return;
    caller = undefined;
    for (const { reject } of calls.values()) reject(error);
  };
  started.once("error", fail);
  started.once("exit", () => fail(new Error("the look-up was interrupted")));
  started.on("message", ({ id, error, value }: Answer) => {
    if (error === null) calls.get(id)?.resolve(value);
    else calls.get(id)?.reject(Object.assign(new Error(error.message), { code: error.code }));
  });
  started.unref();
  started.channel?.unref();
  return started;
}

/** The answer to a request; that of the same request, if it is under way. */
function call(request: Request): Promise<unknown> {
  const id = JSON.stringify(request);
  const { answer } = calls.get(id) ?? makeCall(id, request);
  return answer;
}

function makeCall(id: string, request: Request): Call {
  let settle!: Pick<Call, "resolve" | "reject">;
  const answer = new Promise<unknown>((resolve, reject) => {
    settle = { resolve, reject };
  }).finally(() => calls.delete(id));
  const made = { answer, ...settle };
  calls.set(id, made);
  caller ??= startCaller();
  caller.send({ id, request }, (error) => error && made.reject(error));
  return made;
}

/** The addresses of a name, as the system resolves it. */
async function addressesOf(name: string, options: LookupAllOptions): Promise<LookupAddress[]> {
  const order = options.order ?? getDefaultResultOrder();
  return (await call({ name, options: { ...options, order, all: true } })) as LookupAddress[];
}

/** `lookup` of node:dns, for connections: it keeps neither this process nor a thread of it. */
export const lookup: LookupFunction = (name, { all, family, hints, order }, callback) => {
  const options = { family, hints, order } as LookupAllOptions;
  addressesOf(name, options).then(
    (found) => {
      if (all === true) callback(null, found);
      else callback(null, found[0]?.address ?? "", found[0]?.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, ""),
  );
};

/** Resolves if the system resolves a name; rejects with its error if not. */
export async function resolveName(name: string): Promise<void> {
  await addressesOf(name, { all: true });
}

/** `stat` of node:fs. */
export async function fileState(path: string): Promise<FileState> {
  return (await call({ path })) as FileState;
}
