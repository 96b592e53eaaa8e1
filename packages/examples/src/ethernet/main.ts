import { writePictures } from "../picture/write-pictures.ts";
import { wholeNumber } from "../terminal/arguments.ts";
import { type SimulationOptions, simulationCommand } from "../terminal/simulation-command.ts";
import { headOf, lineOf } from "../terminal/table.ts";
import { pictures } from "./pictures.ts";
import { COLUMNS, closingLines, titleLines } from "./report.ts";
import { STATIONS, simulate } from "./simulate.ts";

interface Options extends SimulationOptions {
  readonly bytes: number;
  readonly minutes: number;
}

const command = simulationCommand(
  "npm run ethernet --",
  "Simulates stations that share one wire, as on early Ethernet.",
)
  .option("--bytes <number>", "length of every frame", wholeNumber(64, 1_518), 1_518)
  .option("--minutes <number>", "simulated time of each network", wholeNumber(1, 60), 6);
const { seed, bytes, minutes, json, svg } = command.parse().opts<Options>();

if (json !== true) console.log([...titleLines(bytes, minutes), headOf(COLUMNS)].join("\n"));
const networks = [];
for (const stations of STATIONS) {
  const network = await simulate({ stations, bytes, duration: minutes * 60_000, seed });
  networks.push(network);
  if (json !== true) console.log(lineOf(COLUMNS, network));
}
if (json === true) console.log(JSON.stringify(networks, null, 2));
else console.log(["", ...closingLines(networks)].join("\n"));
if (svg !== undefined)
  for (const file of writePictures(svg, await pictures(seed))) console.error(file);
