/**
 * A leader election lock in a directory of one machine.
 *
 * @packageDocumentation
 */

export { FileLock, type FileLockOptions } from "./file-lock.ts";
