/** When a key is to be handed out, and before which others. */
export interface AddOptions {
  /**
   * How long to wait first, in milliseconds. Below 0 means 0, which is now; `Infinity` means until
   * it is added again. Of several times for one key the earliest holds.
   *
   * @defaultValue `0`
   */
  readonly after?: number | undefined;

  /**
   * Higher goes first. Any finite number. Of several priorities for one key the highest holds, until
   * it is handed out.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;
}
