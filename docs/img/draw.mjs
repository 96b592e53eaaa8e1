// Draws the pictures of the documentation: what the classes and simulations give, and nothing else.
// Part of `npm run docs`; by itself, after a build: node docs/img/draw.mjs
import { fileURLToPath } from "node:url";
import { samplePicture } from "../../packages/examples/dist/delays/sample.js";
import { pictures as ethernet } from "../../packages/examples/dist/ethernet/pictures.js";
import { compareForms } from "../../packages/examples/dist/herd/compare-forms.js";
import { pictures as herd } from "../../packages/examples/dist/herd/pictures.js";
import { scenario } from "../../packages/examples/dist/herd/scenario.js";
import { writePictures } from "../../packages/examples/dist/picture/write-pictures.js";
import { movesPicture } from "../../packages/examples/dist/slots/picture.js";

const SEED = 1;

const folder = fileURLToPath(new URL(".", import.meta.url));
writePictures(folder, new Map([["delays.svg", samplePicture()]]));
writePictures(folder, new Map([["slots.svg", await movesPicture(SEED)]]));
writePictures(folder, await ethernet(SEED));
const outage = scenario(SEED);
writePictures(folder, herd(await compareForms(outage), outage));
