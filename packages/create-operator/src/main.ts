#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { main, type Output, runCommands } from "@holdfast/kit/node";
import { createProject } from "./create-project.ts";
import { resolveNames } from "./names.ts";

const EXAMPLE = "npm create @holdfast/operator backup-operator";

const USAGE = `npm create @holdfast/operator NAME [-- OPTIONS]

  NAME             of the folder, the package, the namespace and the Deployment, as backup-operator
  --kind KIND      of the custom resource; default: NAME without -operator, as Backup
  --group GROUP    API group of the custom resource; default: example.org
`;

async function create(args: string[], { print }: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kind: { type: "string" },
      group: { type: "string" },
    },
  });
  const [name, ...more] = positionals;
  // npm keeps options that no -- precedes.
  const taken = ["kind", "group"].find((option) => process.env[`npm_config_${option}`]);
  if (taken !== undefined)
    throw new RangeError(`npm took --${taken} for its own: write ${EXAMPLE} -- --${taken} VALUE`);
  if (name === undefined || more.length > 0)
    throw new RangeError(`give one NAME, as in ${EXAMPLE}, got ${positionals.length}`);
  const names = resolveNames(name, values);
  const manifest = await readFile(new URL("../package.json", import.meta.url), "utf8");
  await createProject(name, { ...names, version: JSON.parse(manifest).version });
  print(`Made ${name}: kind ${names.kind} of ${names.group}.

  cd ${name}
  npm install
  npm test
`);
  return 0;
}

await main((args, output) => runCommands({ usage: USAGE, commands: create }, args, output));
