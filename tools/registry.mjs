// A registry on this machine that serves our tarballs, so that a package manager finds them as it will
// after a release: by name and range. All other packages come from the registry of the user.
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { run } from "./packages.mjs";

/** Older than any rule about how long a version has to be out. */
const PUBLISHED = "2020-01-01T00:00:00.000Z";

/**
 * @param {string[]} tarballs - their paths
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function serve(tarballs) {
  const packages = new Map(tarballs.map(readTarball));
  const server = createServer((request, response) => {
    const url = `http://${request.headers.host}`;
    const [name = "", file] = decodeURIComponent(request.url ?? "")
      .slice(1)
      .split("/-/");
    const found = packages.get(name);
    if (found === undefined) response.writeHead(404).end("{}");
    else if (file !== undefined) response.end(found.content);
    else response.setHeader("content-type", "application/json").end(packument(url, found));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close() };
}

/** @returns {[string, { manifest: any, content: Buffer }]} */
function readTarball(path) {
  const manifest = JSON.parse(run("tar", ["-xzOf", path, "package/package.json"]));
  return [manifest.name, { manifest, content: readFileSync(path) }];
}

function packument(url, { manifest, content }) {
  const { name, version } = manifest;
  const dist = {
    tarball: `${url}/${name}/-/${version}.tgz`,
    shasum: createHash("sha1").update(content).digest("hex"),
    integrity: `sha512-${createHash("sha512").update(content).digest("base64")}`,
  };
  return JSON.stringify({
    _id: name,
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { _id: `${name}@${version}`, ...manifest, dist } },
    time: { created: PUBLISHED, modified: PUBLISHED, [version]: PUBLISHED },
  });
}
