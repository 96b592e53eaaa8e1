// The environment for npm, npx and pnpm: never asking, and with caches in the repository where the
// home directory cannot be written, as on some build machines.
import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";

/** @returns {NodeJS.ProcessEnv} */
export function registryEnv() {
  // An npx around this one would give its command and its packages to the next.
  const { npm_config_call: _call, npm_config_package: _package, ...env } = process.env;
  return {
    CI: "true", // a node_modules of another pnpm is replaced without a question
    ...env,
    npm_config_update_notifier: "false",
    ...(homeIsWritable() ? {} : localCaches()),
  };
}

function homeIsWritable() {
  try {
    const cache = `${homedir()}/.npm`; // npm makes this folder anyway
    if (!existsSync(cache)) mkdirSync(cache);
    accessSync(cache, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function localCaches() {
  const folder = fileURLToPath(new URL("../.cache", import.meta.url));
  return {
    npm_config_cache: `${folder}/npm`,
    XDG_CACHE_HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_STATE_HOME: folder,
  };
}
