import { vi } from "vitest";

/** Lets the machine's time and chance throw, and returns where they were asked: an error may be caught on its way. */
export function refuseMachine(): readonly string[] {
  const asked: string[] = [];
  const refuse = (name: string) => (): never => {
    asked.push(new Error(name).stack ?? name);
    throw new Error(`${name} is no argument`);
  };
  // The console of the test runner asks for the time.
  for (const name of ["info", "warn", "error"] as const)
    vi.spyOn(console, name).mockImplementation(() => undefined);
  vi.spyOn(Math, "random").mockImplementation(refuse("Math.random"));
  vi.spyOn(Date, "now").mockImplementation(refuse("Date.now"));
  vi.spyOn(performance, "now").mockImplementation(refuse("performance.now"));
  vi.spyOn(globalThis.crypto, "randomUUID").mockImplementation(refuse("randomUUID"));
  vi.spyOn(globalThis.crypto, "getRandomValues").mockImplementation(refuse("getRandomValues"));
  return asked;
}
