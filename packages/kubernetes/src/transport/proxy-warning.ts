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

/** A name or an address with a port. An address of IPv6 has brackets then. */
const WITH_PORT = /^(?:\[(?<address>[^\]]+)\]|(?<name>[^:]+)):(?<port>\d+)$/;

/**
 * Whether an entry of NO_PROXY names a host: by name, domain, address or range, with a port or without, as in Go.
 *
 * Source: `config.init` of golang.org/x/net/http/httpproxy.
 */
function covers(pattern: string, url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const { address, name = address, port } = WITH_PORT.exec(pattern)?.groups ?? {};
  if (pattern === "" || (port !== undefined && port !== portOf(url))) return false;
  const entry = (name ?? pattern.replace(/^\[(.*)\]$/, "$1")).toLowerCase().replace(/^\*\./, ".");
  return entry === "*" || isWithin(host, entry) || isInRange(host, entry);
}

/** A URL has no port if it is the one of its protocol. */
function portOf({ port, protocol }: URL): string {
  if (port !== "") return port;
  return protocol === "https:" ? "443" : "80";
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(domain.startsWith(".") ? domain : `.${domain}`);
}

function isInRange(host: string, pattern: string): boolean {
  const [address = "", bits = ""] = pattern.split("/");
  const family = isIP(address);
  const longest = family === 4 ? 32 : 128;
  if (family === 0 || family !== isIP(host)) return false;
  if (!/^\d{0,3}$/.test(bits) || Number(bits) > longest) return false;
  const range = new BlockList();
  range.addSubnet(address, bits === "" ? longest : Number(bits), `ipv${family as 4 | 6}`);
  return range.check(host, `ipv${family as 4 | 6}`);
}
