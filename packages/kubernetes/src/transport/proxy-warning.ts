import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
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
  if (["127.0.0.0/8", ...direct].some((pattern) => covers(pattern, url))) return;
  warn(logger, { server: url.origin }, `${name} is ignored; this transport connects directly`);
}

/** A name or an address, with a port or without, which may be empty. An address of IPv6 has brackets with one. */
const ENTRY = /^(?:\[(?<address>[^\]]+)\]|(?<name>[^:]+))(?::(?<port>\d*))?$/;

/**
 * Whether an entry of NO_PROXY names a host: by name, domain, address or range, with a port or without, as in Go.
 *
 * Source: `config.init` of golang.org/x/net/http/httpproxy.
 */
function covers(pattern: string, url: URL): boolean {
  if (pattern === "*") return true;
  const { name, port } = entryOf(pattern);
  if (name === "" || (port !== "" && port !== portOf(url))) return false;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return isWithin(host, name) || isInRange(host, name);
}

/** The parts of an entry. The name is in the form that it has in a URL. */
function entryOf(pattern: string): { readonly name: string; readonly port: string } {
  const { address = pattern, name = address, port = "" } = ENTRY.exec(pattern)?.groups ?? {};
  const entry = name.toLowerCase().replace(/^\*\./, ".");
  const isRange = entry.includes("/");
  return { name: isRange ? entry : domainToASCII(entry) || entry, port };
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
  const [family, own] = [isIP(address), isIP(host)];
  // A host of IPv6 may be an address of IPv4.
  if (family === 0 || own < family) return false;
  const longest = family === 4 ? 32 : 128;
  if (!/^\d{0,3}$/.test(bits) || Number(bits) > longest) return false;
  const range = new BlockList();
  range.addSubnet(address, bits === "" ? longest : Number(bits), `ipv${family as 4 | 6}`);
  return range.check(host, `ipv${own as 4 | 6}`);
}
