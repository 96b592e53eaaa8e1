import { existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/**
 * The program of a browser for tests.
 *
 * @throws `Error` if there is none; it says how to get one
 */
export function chromiumProgram(): string {
  const path = process.env["CHROMIUM_PATH"] ?? PLACES.find((place) => existsSync(place));
  if (path !== undefined) return path;
  throw new Error(
    "There is no Chromium. Install one (Debian: apt-get install chromium), or name it in CHROMIUM_PATH.",
  );
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
