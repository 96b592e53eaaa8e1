import { vi } from "vitest";

/**
 * Lets the machine's time and chance throw where a file of this repository asks for them, and returns where that was: an error
 * may be caught on its way. A test of another file may have left a library at work in the same process: it is let alone.
 */
export function refuseMachine(): readonly string[] {
  const asked: string[] = [];
  const refuse = <Host extends object>(host: Host, name: keyof Host & string): void => {
    const real = host[name] as (...args: unknown[]) => unknown;
    vi.spyOn(host, name as never).mockImplementation(((...args: unknown[]): unknown => {
      const { stack = name } = new Error(name);
      if (!isOurs(stack)) return Reflect.apply(real, host, args);
      asked.push(stack);
      throw new Error(`${name} is no argument`);
    }) as never);
  };
  // The console of the test runner asks for the time.
  for (const name of ["info", "warn", "error"] as const)
    vi.spyOn(console, name).mockImplementation(() => undefined);
  refuse(Math, "random");
  refuse(Date, "now");
  refuse(performance, "now");
  refuse(globalThis.crypto, "randomUUID");
  refuse(globalThis.crypto, "getRandomValues");
  return asked;
}

function isOurs(stack: string): boolean {
  const isFile = (line: string): boolean =>
    line.includes("/packages/") && !/\/node_modules\/|\/refuse-machine\./.test(line);
  return stack.split("\n").some(isFile);
}
