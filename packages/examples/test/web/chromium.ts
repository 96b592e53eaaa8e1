import { existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** What to do where there is no browser. */
export const HOW_TO_INSTALL =
  "The page is not tested: there is no Chromium. Install one (Debian: apt-get install chromium), " +
  "or say in CHROMIUM_PATH where it is.";

/** @returns the program of a browser for tests, or undefined if there is none */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH: told } = process.env;
  return told ?? PLACES.find((place) => existsSync(place));
}

/** Headless, by itself, and in a container as well. */
export const CHROMIUM_FLAGS: readonly string[] = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
