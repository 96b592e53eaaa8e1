// How a tool reads its arguments: `--help` prints its usage; a bad argument, the reason and the usage.
import { parseArgs } from "node:util";

/**
 * Ends the process with 0 after `--help`, and with 2 after a bad argument.
 *
 * @template [T=void]
 * @param {string} usage
 * @param {import("node:util").ParseArgsConfig} [config] - none for a tool without arguments
 * @param {(parsed: { values: Record<string, any>, positionals: string[] }) => T} [check] - makes the options of the
 * tool, or throws what is wrong
 * @returns {T}
 */
export function readArguments(usage, config = {}, check = () => /** @type {T} */ (undefined)) {
  try {
    const options = { ...config.options, help: { type: /** @type {const} */ ("boolean") } };
    const { values, positionals } = parseArgs({ ...config, options });
    if (!values.help) return check({ values, positionals });
    console.log(usage);
    process.exit(0);
  } catch (error) {
    console.error(`error: ${problemOf(error)}\n\n${usage}`);
    process.exit(2);
  }
}

/** The message, without Node's advice on positional arguments that begin with a hyphen. */
function problemOf(error) {
  return /** @type {Error} */ (error).message.split(". To specify a positional")[0];
}

/**
 * @param {string} name - of the option
 * @param {string | undefined} text
 * @param {number} least
 * @throws `RangeError` for anything but a whole number
 */
export function wholeNumber(name, text, least) {
  const value = Number(text);
  if (/^\d+$/.test(text ?? "") && Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be a whole number of at least ${least}, got ${text}`);
}
