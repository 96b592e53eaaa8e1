/** A process to start. */
export interface Launch {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment of the supervisor. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** From SIGTERM to SIGKILL for the descendants of a process that has exited, in milliseconds. */
  readonly grace: number;
}

/** How a process ended. `words` is the last line it wrote, if it wrote any. */
export type Exit =
  | { readonly kind: "code"; readonly code: number; readonly words?: string | undefined }
  | {
      readonly kind: "signal";
      readonly signal: NodeJS.Signals;
      readonly words?: string | undefined;
    }
  /** It could not be started at all, or not be stopped; the code is that of a shell. */
  | {
      readonly kind: "error";
      readonly message: string;
      readonly code?: number | undefined;
      /** Whether a process of it still runs: another life would meet it. */
      readonly isLost?: boolean | undefined;
    };

/** One life of a process, from start to exit. */
export interface Run {
  readonly exit: Exit;
  /** How long it was, in milliseconds; 0 if the process could not be started. */
  readonly ran: number;
}

/** A started process together with everything that it starts in turn. */
export interface Child {
  /** Undefined if it could not be started; `exited` then says why. */
  readonly pid: number | undefined;
  /** Resolves when the process and all its descendants are gone. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Sends a signal to the process and its descendants. Does nothing once they are gone. */
  signal(name: NodeJS.Signals): void;
  /** Memory of the process and its descendants, in bytes. */
  memory(): number;
}

/** Where processes live. Real ones are in `RealProcessTable`; tests script theirs. */
export interface ProcessTable {
  /** Starts a process. A failure is an {@link Exit}, never a throw. */
  start(launch: Launch): Child;
  /** Sends SIGKILL to all of them, at once. */
  killAll(): void;
}
