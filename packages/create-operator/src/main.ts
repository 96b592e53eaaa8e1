#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createProject } from "./create-project.ts";
import { resolveNames } from "./names.ts";

const EXAMPLE = "npm create @holdfast/operator backup-operator";

const USAGE = `npm create @holdfast/operator NAME [-- OPTIONS]

  NAME             of the folder, the package, the namespace and the Deployment, as backup-operator
  --kind KIND      of the custom resource; default: NAME without -operator, as Backup
  --group GROUP    API group of the custom resource; default: example.org
`;

async function run(args: string[]): Promise<string> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kind: { type: "string" },
      group: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help === true) return USAGE;
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
  return `Made ${name}: kind ${names.kind} of ${names.group}.

  cd ${name}
  npm install
  npm test
`;
}

// Whoever reads no more, as `head` behind a pipe, ends no command.
for (const output of [process.stdout, process.stderr]) output.on("error", () => undefined);

try {
  process.stdout.write(await run(process.argv.slice(2)));
} catch (error) {
  const { message } = error as Error;
  process.stderr.write(`error: ${message.split(". To specify a positional")[0]}\n`);
  process.exitCode = 2;
}
