import { type Kind, kind, methods, requireOptions } from "@holdfast/kit";
import { LOGGER } from "./logger.ts";

export const anyLogger: Kind = methods(...LOGGER);

/** An object whose names are the user's. */
export const record: Kind = kind("record", (path, value) => requireOptions(path, value));
