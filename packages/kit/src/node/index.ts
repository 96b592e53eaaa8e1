/** Code that the packages share, for Node alone: commands, files, servers and live pages. */
export { type BoundedServerOptions, boundedServer } from "./bounded-server.ts";
export {
  type Command,
  type CommandLine,
  main,
  type Output,
  optional,
  problemOf,
  requirePositionals,
  runCommands,
  textOf,
} from "./command.ts";
export { EventStream } from "./event-stream.ts";
export { escapeHtml, type SnapshotSource } from "./live-page.ts";
export {
  type Bytes,
  type ReadFileOptions,
  readBytes,
  readChunks,
  readPart,
  readText,
  readUpTo,
} from "./read-file.ts";
export { jsonReply, type Reply, textReply, typedReply } from "./reply.ts";
export { type LivePageOptions, type LiveServer, serveLivePage } from "./serve-live-page.ts";
export { type Span, strip, windowOf, withSpan } from "./strip.ts";
export { versionOf } from "./version-of.ts";
