/**
 * A leader election lock in a directory of one machine.
 *
 * @packageDocumentation
 */

export { FileLock } from "./file-lock.ts";
