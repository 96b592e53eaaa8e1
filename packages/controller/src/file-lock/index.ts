export { FileLock } from "./file-lock.ts";
