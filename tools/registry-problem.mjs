import { readFileSync } from "node:fs";
import { homedir } from "node:os";

/** How long the registry may take, in milliseconds: a user hears of its silence within 5 s. */
const PATIENCE = 4000;

/**
 * Asks the registry itself: npm needs minutes to give up.
 *
 * Any reply is an answer, and so is a certificate that Node does not know. Behind a proxy nothing is asked,
 * because only npm knows how to use it.
 *
 * @returns {Promise<string | undefined>} a sentence; undefined if the registry answers
 */
export async function registryProblem() {
  if (Object.keys(process.env).some((name) => /^(npm_config_)?(https?[-_])?proxy$/i.test(name)))
    return undefined;
  const registry = registryUrl();
  try {
    await fetch(registry, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE),
    });
    return undefined;
  } catch (error) {
    const { name, cause } = /** @type {Error & { cause?: NodeJS.ErrnoException }} */ (error);
    const isSilent = name === "TimeoutError";
    const { code = "" } = cause || {};
    if (!isSilent && !/^E(AI_AGAIN|[A-Z]+)$/.test(code)) return undefined;
    const reason = isSilent ? `no response within ${PATIENCE / 1000} s` : code;
    return `The registry ${registry} cannot be reached: ${reason}.`;
  }
}

/** The registry of the environment, of this repository, of this user, or the public one. */
function registryUrl() {
  const { npm_config_registry: told, npm_config_userconfig: ofUser } = process.env;
  const files = [".npmrc", ofUser || `${homedir()}/.npmrc`];
  const written = files.map(writtenRegistry).find((registry) => registry !== undefined);
  return told || written || "https://registry.npmjs.org/";
}

function writtenRegistry(file) {
  try {
    const [, registry] = /^ *registry *= *(\S+)/m.exec(readFileSync(file, "utf8")) || [];
    return registry;
  } catch {
    return undefined; // There is no such file.
  }
}
