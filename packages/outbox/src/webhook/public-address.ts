import { lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

/**
 * Addresses that no public host has.
 *
 * Sources: the special-purpose address registries of IANA, whole, also what they call globally reachable: nobody's webhook
 * is there. And what clouds document as answered to their own machines alone, though it lies among public addresses; most
 * platforms use 169.254.169.254 or other link-local and private ones.
 */
const SPECIAL = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carrier-grade NAT, and services of Alibaba Cloud and Huawei Cloud
  ["127.0.0.0", 8],
  ["161.26.0.0", 16], // services of IBM Cloud
  ["166.8.0.0", 14], // private endpoints of IBM Cloud
  ["168.63.129.16", 32], // Azure: WireServer
  ["169.254.0.0", 16], // link-local, and the metadata of clouds
  ["172.16.0.0", 12],
  ["183.60.82.98", 32], // Tencent Cloud: name server
  ["183.60.83.19", 32], // Tencent Cloud: name server
  ["192.0.0.0", 24], // protocols, and the metadata of Oracle Cloud
  ["192.0.2.0", 24], // documentation
  ["192.31.196.0", 24], // AS112
  ["192.52.193.0", 24], // multicast tunnels
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16],
  ["192.175.48.0", 24], // AS112
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24],
  ["199.36.153.4", 30], // Google Cloud: restricted.googleapis.com
  ["199.36.153.8", 30], // Google Cloud: private.googleapis.com
  ["203.0.113.0", 24],
  ["224.0.0.0", 3], // multicast, reserved, broadcast
] as const)
  SPECIAL.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["2001::", 23], // Teredo, ORCHID and other protocols
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: an address of IPv4 within
  ["2600:2d00:2:1000::", 64], // Google Cloud: restricted.googleapis.com
  ["2600:2d00:2:2000::", 64], // Google Cloud: private.googleapis.com
  ["2620:4f:8000::", 48], // AS112
  ["3fff::", 20], // documentation
] as const)
  SPECIAL.addSubnet(network, prefix, "ipv6");

/** All other addresses of IPv6 are not public: among them those that hold one of IPv4, for NAT64 and as mapped ones. */
const GLOBAL_V6 = new BlockList();
GLOBAL_V6.addSubnet("2000::", 3, "ipv6");

/** Between this file and the publisher: users see a TerminalError. */
const CODE = "EPRIVATE";

/**
 * Whether a host is an address that is not public. False for a name.
 *
 * @param host - of a parsed URL, in which every spelling of an address of IPv4 has become the usual one
 */
export function isPrivateAddress(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const family = isIP(address);
  if (family === 4) return SPECIAL.check(address, "ipv4");
  if (family === 6) return !GLOBAL_V6.check(address, "ipv6") || SPECIAL.check(address, "ipv6");
  return false;
}

/** Whether {@link publicLookup} refused an address. */
export function isPrivateAddressError(error: NodeJS.ErrnoException): boolean {
  return error.code === CODE;
}

/** Resolves a name, and fails if one of its addresses is not public. The connection uses the result, so no second one. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0);
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return callback(Object.assign(new Error("address is not public"), { code: CODE }), "", 0);
    if (options.all === true) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first?.address ?? "", first?.family);
  });
};
