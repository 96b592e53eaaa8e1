import { statSync } from "node:fs";
import { dirname } from "node:path";

const EXECUTE_FOR_OTHERS = 0o001;

/** Whether a user who owns nothing here gets to a file: may go through every directory above it. */
export function othersMayEnter(path: string): boolean {
  const directory = dirname(path);
  if ((statSync(directory).mode & EXECUTE_FOR_OTHERS) === 0) return false;
  return directory === dirname(directory) || othersMayEnter(directory);
}
