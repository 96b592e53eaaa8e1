import { findByCode, messageOf, TIMEOUT_CODE } from "@holdfast/kit";
import { isTerminalError } from "@holdfast/wait";
import { type Attempt, beginOf, type Schedule } from "./order.ts";

/** The part of a reconcile request that is watched. */
export interface WatchedRequest {
  /** The key. */
  readonly key: string;

  /** Aborts when the reconcile must end. */
  readonly signal: AbortSignal;

  /** The term under which the reconcile runs: of the leader, or of the key's slot. */
  readonly leadership?:
    | {
        /** Whether the term still holds. */
        readonly isHeld: boolean;
      }
    | undefined;
}

/** The answer of a reconcile that may not begin yet, as that of a controller. */
export interface Held {
  /** Milliseconds until it may. */
  readonly requeueAfter: number;
}

/** The replica of a reconcile. */
interface Owner {
  readonly number: number;
  /** Whether it neither stands still nor has crashed. */
  readonly isAwake: boolean;
  readonly crashed: AbortSignal;
}

/** A reconcile that runs. */
interface Running {
  readonly label: string;
  readonly owner: Owner;
  readonly request: WatchedRequest;
  readonly attempt: Attempt;
}

/** How the reconciles of a world are watched. */
export interface ReconcilesOptions {
  /** The instant of the world. */
  readonly now: () => number;
  /** Called with what is wrong when two replicas work on one key. */
  readonly onOverlap: (text: string) => void;
  readonly schedule?: Schedule | undefined;
}

/** The reconciles of a world: those that run, those whose latest attempt has failed, and all attempts in order. */
export class Reconciles {
  /** By controller and key. */
  readonly #open = new Map<string, { readonly text: string; readonly owner: Owner }>();
  readonly #running = new Set<Running>();

  /** By replica: when the latest news came, and from when they are. */
  readonly #news = new Map<number, { readonly at: number; readonly since: number }>();
  readonly #options: ReconcilesOptions;
  readonly attempts: Attempt[] = [];

  constructor(options: ReconcilesOptions) {
    this.#options = options;
  }

  /** What is left to do, in words. */
  get left(): string | undefined {
    const [first] = this.#open;
    return first && `the reconcile of ${first[0]} ${first[1].text}`;
  }

  /**
   * A reconcile whose state is known.
   *
   * @param owner - the replica; {@link forget} forgets its reconciles
   */
  watch<Request extends WatchedRequest, Result>(
    owner: Owner,
    name: string,
    reconcile: (request: Request) => Result | PromiseLike<Result>,
  ): (request: Request) => Promise<Result | Held> {
    return async (request) => {
      const label = `${name} ${request.key}`;
      const { now, schedule } = this.#options;
      const at = now();
      const begin = schedule === undefined ? at : beginOf(label, at, schedule);
      if (begin > at) return { requeueAfter: begin - at };
      const news = this.#news.get(owner.number);
      const since = news?.at === at && news.since < at ? news.since : undefined;
      const attempt: Attempt = { label, at, since, hasSucceeded: false };
      this.attempts.push(attempt);
      const running = { label, owner, request, attempt };
      if (!owner.crashed.aborted) this.#open.set(label, { text: "still runs", owner });
      this.#begin(running);
      try {
        const result = await reconcile(request);
        this.#open.delete(label);
        attempt.hasSucceeded = true;
        return result;
      } catch (error) {
        if (isOver(error, request.signal)) this.#open.delete(label);
        else this.#open.set(label, { text: `still fails: ${messageOf(error)}`, owner });
        throw error;
      } finally {
        this.#running.delete(running);
      }
    };
  }

  #begin(running: Running): void {
    const { label, owner } = running;
    for (const other of this.#running)
      if (other.label === label && other.owner !== owner && mayWork(other) && mayWork(running))
        this.#options.onOverlap(
          `replicas ${other.owner.number} and ${owner.number} are in the reconcile of ${label} at one instant`,
        );
    this.#running.add(running);
  }

  /** News from an instant have come to a replica. The first ones count: a reconcile that begins now may not see the others. */
  tell(replica: number, since: number): void {
    const at = this.#options.now();
    if (this.#news.get(replica)?.at !== at) this.#news.set(replica, { at, since });
  }

  /** A write of a replica has changed the state. */
  change(replica: number): void {
    for (const { owner, attempt } of this.#running)
      if (owner.number === replica) attempt.hasChanged = true;
  }

  /** The replica has crashed, or its term is over: its reconciles are no more. */
  forget(owner: Owner): void {
    for (const [label, one] of this.#open) if (one.owner === owner) this.#open.delete(label);
  }
}

/** Whether a reconcile runs, and has neither been told to end nor lost its lease. */
function mayWork({ owner, request: { signal, leadership } }: Running): boolean {
  return owner.isAwake && (leadership === undefined ? !signal.aborted : leadership.isHeld);
}

/** Whether a reconcile will not be tried again: it was stopped with its controller, or has given up for good. */
function isOver(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return isTerminalError(error) || (aborted && findByCode(reason, TIMEOUT_CODE) === undefined);
}
