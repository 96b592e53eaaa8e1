import type { ProcessEvent } from "./event.ts";

/** A function for every kind of change of a process. */
export type Handlers<Context, Result> = {
  readonly [Type in ProcessEvent["type"]]: (
    context: Context,
    event: Extract<ProcessEvent, { readonly type: Type }>,
  ) => Result;
};

/** Calls the function for the kind of change that `event` is. */
export function dispatch<Context, Result>(
  handlers: Handlers<Context, Result>,
  context: Context,
  event: ProcessEvent,
): Result {
  const handler = handlers[event.type] as (context: Context, event: ProcessEvent) => Result;
  return handler(context, event);
}
