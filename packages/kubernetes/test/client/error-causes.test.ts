import {
  ApiError,
  ConnectionError,
  findError,
  isApiError,
  isConnectionError,
} from "@holdfast/kubernetes";
import { TimeoutError } from "@holdfast/wait";
import { expect, it } from "vitest";

const request = { method: "GET", path: "/" };
const api = new ApiError({
  ...request,
  status: 404,
  reason: "NotFound",
  message: "no",
  details: {},
});
const connection = new ConnectionError(request, "server", new Error("reset"));

it.each<[name: string, is: (error: unknown) => boolean, error: Error]>([
  ["isApiError", isApiError, api],
  ["isApiError of a reason", (error) => isApiError(error, "NotFound"), api],
  ["ApiError.find", (error) => findError(error, ApiError) === api, api],
  ["isConnectionError", isConnectionError, connection],
])("%s follows causes, but not that of a timeout", (_, is, error) => {
  const wrapped = new Error("outer", { cause: new Error("inner", { cause: error }) });
  expect(
    [error, wrapped, new TimeoutError(1, { cause: error }), new Error("no")].map((one) => is(one)),
  ).toEqual([true, true, false, false]);
});

it("isApiError compares the reason of the first error of a server", () => {
  expect(isApiError(new Error("outer", { cause: api }), "Conflict")).toBe(false);
});
