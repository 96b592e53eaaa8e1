import { writePictures } from "../picture/write-pictures.ts";
import { wholeNumber } from "../terminal/arguments.ts";
import { type SimulationOptions, simulationCommand } from "../terminal/simulation-command.ts";
import { headOf, lineOf } from "../terminal/table.ts";
import { compareForms } from "./compare-forms.ts";
import { pictures } from "./pictures.ts";
import { COLUMNS, closingLines, titleLines } from "./report.ts";
import { scenario } from "./scenario.ts";

interface Options extends SimulationOptions {
  readonly outage: number;
}

const command = simulationCommand(
  "npm run herd --",
  "Simulates 1,000 clients that reconnect to one server, for each form of jitter.",
).option("--outage <seconds>", "length of the outage", wholeNumber(1, 3_600), 10);
const { seed, outage, json, svg } = command.parse().opts<Options>();
const down = scenario(seed, outage * 1_000);

const runs = await compareForms(down);
if (json === true) {
  const figures = runs.map(({ load: { intervals: _, ...totals } }) => totals);
  console.log(JSON.stringify({ scenario: down, figures }, null, 2));
} else {
  const loads = runs.map(({ load }) => load);
  const rows = loads.map((load) => lineOf(COLUMNS, load));
  const table = [...titleLines(down), headOf(COLUMNS), ...rows, ""];
  console.log([...table, ...closingLines(loads, down)].join("\n"));
}
if (svg !== undefined)
  for (const file of writePictures(svg, pictures(runs, down))) console.error(file);
