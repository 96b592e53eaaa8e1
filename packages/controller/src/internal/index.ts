/**
 * Code shared by the Holdfast packages, for Node alone. Not public: it is not in the reference and may
 * change with any minor version.
 *
 * @hidden
 * @packageDocumentation
 */
export { requireDurations } from "../election/leader-elector-options.ts";
export { endRequest } from "../mysql-lock/mysql-connection.ts";
export { cancelRequest, isOfServer, leftTransaction } from "../postgres-lock/pg-connection.ts";
export { type BoundedServerOptions, boundedServer } from "./bounded-server.ts";
export { optional, problemOf } from "./command.ts";
export { escapeHtml, type SnapshotSource } from "./live-page.ts";
export {
  type Bytes,
  type ReadFileOptions,
  readBytes,
  readChunks,
  readPart,
  readText,
} from "./read-file.ts";
export { jsonReply, type Reply, textReply, typedReply } from "./reply.ts";
export {
  hasToken,
  type LivePageOptions,
  type LiveServer,
  serveLivePage,
} from "./serve-live-page.ts";
