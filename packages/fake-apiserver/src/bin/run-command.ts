import { type Output, runCommands } from "@holdfast/kit/node";
import { rules } from "./rules.ts";

const USAGE = `npx @holdfast/fake-apiserver rules FILE...

  rules FILE...              prints a ClusterRole for the requests of a test run with HOLDFAST_RULES=FILE,
                             and a Role for its Leases
    --name NAME              of the roles; default: operator
    --namespace NAMESPACE    of the operator; rights needed there only are in the Role, too
`;

/** Runs the command line with these arguments. */
export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  return await runCommands({ usage: USAGE, commands: new Map([["rules", rules]]) }, args, output);
}
