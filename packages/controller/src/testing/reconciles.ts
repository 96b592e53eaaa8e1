import { findByCode, messageOf, TIMEOUT_CODE } from "@holdfast/clock/internal";
import { isTerminalError } from "@holdfast/wait";

/** The part of a reconcile request that is watched. */
export interface WatchedRequest {
  /** The key. */
  readonly key: string;

  /** Aborts when the reconcile must end. */
  readonly signal: AbortSignal;
}

/** The replica of a reconcile. */
interface Owner {
  readonly crashed: AbortSignal;
}

/** The reconciles of a world that run, or whose latest attempt has failed. */
export class Reconciles {
  /** By controller and key. */
  readonly #open = new Map<string, { readonly text: string; readonly owner: Owner }>();

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
  ): (request: Request) => Promise<Result> {
    return async (request) => {
      const label = `${name} ${request.key}`;
      if (!owner.crashed.aborted) this.#open.set(label, { text: "still runs", owner });
      try {
        const result = await reconcile(request);
        this.#open.delete(label);
        return result;
      } catch (error) {
        if (isOver(error, request.signal)) this.#open.delete(label);
        else this.#open.set(label, { text: `still fails: ${messageOf(error)}`, owner });
        throw error;
      }
    };
  }

  /** The replica has crashed, or its term is over: its reconciles are no more. */
  forget(owner: Owner): void {
    for (const [label, one] of this.#open) if (one.owner === owner) this.#open.delete(label);
  }
}

/** Whether a reconcile will not be tried again: it was stopped with its controller, or has given up for good. */
function isOver(error: unknown, { aborted, reason }: AbortSignal): boolean {
  return isTerminalError(error) || (aborted && findByCode(reason, TIMEOUT_CODE) === undefined);
}
