import { type Run, runCommands } from "@holdfast/kit/node";
import { rules } from "./rules.ts";

const USAGE = `npx @holdfast/fake-apiserver rules FILE...

  rules FILE...              prints a ClusterRole for the requests of a test run with HOLDFAST_RULES=FILE,
                             and a Role for its Leases
    --name NAME              of the roles; default: operator
    --namespace NAMESPACE    of the operator; rights needed there only are in the Role, too
`;

/** Runs the command line with these arguments. */
export async function runCommand(args: readonly string[]): Promise<Run> {
  return await runCommands(USAGE, new Map([["rules", rules]]), args);
}
