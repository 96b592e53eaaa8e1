import { Program } from "../program.ts";

/** The built supervisor in a process of its own. */
export class SupervisorProgram extends Program {
  constructor(args: readonly string[]) {
    super("supervisor/main.js", args);
  }

  /** Waits until a process is reported as running, and returns its pid. */
  async pidOf(name: string): Promise<number> {
    const [, pid] = await this.printed(new RegExp(`  ${name} +Running, pid (\\d+)\\n`));
    return Number(pid);
  }
}
