import { ApiError } from "@holdfast/kubernetes";
import { expect, it } from "vitest";

it.each(["001b", "009b", "061c", "200f", "202e", "2066", "2028"])(
  "an ApiError escapes U+%s, with which a server moves or reorders a line",
  (code) => {
    const one = String.fromCharCode(Number.parseInt(code, 16));
    const { message } = new ApiError({
      ...{ status: 403, reason: "Forbidden", message: `one${one}two`, details: {} },
      ...{ method: "GET", path: "/api" },
    });
    expect(message).toBe(`GET /api: 403 Forbidden: one\\u${code}two`);
  },
);
