import { type Command, connected, read } from "./command.ts";
import { jsonLine } from "./text.ts";

/** `migrate [--print]` */
export const migrate: Command = async (args, io) => {
  const { values } = read(args, { print: { type: "boolean" } });
  await using connection = await connected(io, values);
  if (values.print === true) {
    const statements = await connection.pending();
    if (values.json) io.print(jsonLine({ statements }));
    else io.print(statements.map((statement) => `${statement};\n`).join(""));
    if (statements.length === 0) io.note("the tables are up to date");
    return 0;
  }
  const applied = await connection.migrate();
  if (values.json) io.print(jsonLine({ applied }));
  else if (applied.length === 0) io.print("the tables are up to date\n");
  else io.print(`applied ${applied.join(", ")}\n`);
  return 0;
};
