import { BlockList, isIP } from "node:net";
import type { Logger } from "@holdfast/controller";
import { warn } from "../logger.ts";
import { isLoopback } from "./http-transport.ts";

/**
 * Warns that a proxy of the environment is not used, where kubectl would use it. Names the variable, not its value, which may
 * have a password.
 */
export function warnOfProxy(url: URL, logger: Logger): void {
  const name = `${url.protocol.replace(":", "").toUpperCase()}_PROXY`;
  const { env } = process;
  if ((env[name] || env[name.toLowerCase()] || "") === "" || isLoopback(url)) return;
  const direct = (env["NO_PROXY"] || env["no_proxy"] || "").split(",").map((one) => one.trim());
  if (direct.some((pattern) => covers(pattern, url))) return;
  warn(logger, { server: url.origin }, `${name} is ignored; this transport connects directly`);
}

/** Whether an entry of NO_PROXY names a host: by name, domain, address or range, as in Go. */
function covers(pattern: string, { hostname, port }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (pattern === "") return false;
  const isNamed = ["*", host, `${host}:${port}`].includes(pattern);
  const domain = pattern.startsWith(".") ? pattern : `.${pattern}`;
  return isNamed || host.endsWith(domain) || isInRange(host, pattern);
}

function isInRange(host: string, pattern: string): boolean {
  const [address = "", bits = ""] = pattern.split("/");
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  if (family === 0 || family !== isIP(host)) return false;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > longest) return false;
  const range = new BlockList();
  range.addSubnet(address, Number(bits), `ipv${family as 4 | 6}`);
  return range.check(host, `ipv${family as 4 | 6}`);
}
