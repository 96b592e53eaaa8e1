import { type Kind, kind, methods, requireDelay } from "@holdfast/kit";
import { defaultLogger } from "./logger.ts";

/** A number of milliseconds; below 0 means 0. */
export const delay: Kind = kind("delay", requireDelay);

export const anyLogger: Kind = methods(...Object.keys(defaultLogger));

export const rateLimiter: Kind = methods("when", "forget", "requeues");
