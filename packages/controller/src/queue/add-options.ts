/** Options for `WorkQueue.add`. */
export interface AddOptions {
  /**
   * Delay before the key is queued, in milliseconds. 0 and below mean now; `Infinity` means until the
   * key is added again. The earliest of several times for one key holds.
   *
   * @defaultValue `0`
   */
  readonly after?: number | undefined;

  /**
   * Priority of the key: higher goes first. Any finite number. The highest of several priorities for
   * one key holds until the key is taken. A queued key whose priority rises waits as of then, unless its old
   * place is better. A key in flight waits as of the first add since it was taken.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;
}
