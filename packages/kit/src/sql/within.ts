/** The part of `withTimeout` of `@holdfast/wait` that is used. */
export type Within = <Value>(
  work: (signal: AbortSignal) => Value | PromiseLike<Value>,
  timeout: number,
  options: { readonly label: string },
) => Promise<Value>;
