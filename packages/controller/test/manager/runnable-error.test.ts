import { isRunnableError, RunnableError } from "@holdfast/controller";
import { expect, it } from "vitest";

it("a RunnableError carries its facts", () => {
  const cause = new Error("boom");
  const error = new RunnableError("web", "failed", { cause });
  expect([error.name, error.code, error.runnable, error.problem, error.cause]).toEqual([
    "RunnableError",
    "ERR_CONTROLLER_RUNNABLE",
    "web",
    "failed",
    cause,
  ]);
  expect(error.message).toBe('"web" failed: boom');
  expect(Object.hasOwn(new RunnableError("web", "ended"), "cause")).toBe(false);
});

it("is recognised by its code, of any copy of the package", () => {
  const twin = Object.assign(new Error("twin"), { code: "ERR_CONTROLLER_RUNNABLE" });
  const outer = new Error("stopped", { cause: twin });
  const errors = [new RunnableError("web", "ended"), twin, outer];
  expect(errors.map(isRunnableError)).toEqual([true, true, true]);
  expect([new Error("no"), undefined].map(isRunnableError)).toEqual([false, false]);
});
