#!/usr/bin/env bash
# Package: undici 8.13.0
# Guess: a response without an ETag whose connection breaks in the middle is an error of its body.
# Seen: the rest is asked for with Range, and joined to the part that is there. If the content has changed in between, the
# caller gets the beginning of one version and the end of another, with status 200. Only a strong ETag is compared, a weak
# one and Last-Modified are not.
. "$(dirname "$0")/lib.sh"
node_of 26.10.0
packages undici@8.13.0
observe <<'JS'
import { Agent, fetch, RetryAgent } from "undici";
import { serve } from "./kit.mjs";

const day = (number) => ({ "last-modified": new Date(Date.UTC(2026, 0, number)).toUTCString() });
const versions = {
  "no validator": [{}, {}],
  "Last-Modified": [day(1), day(2)],
  "weak ETag": [{ etag: 'W/"a"' }, { etag: 'W/"b"' }],
  "strong ETag": [{ etag: '"a"' }, { etag: '"b"' }],
};
for (const [name, [first, second]] of Object.entries(versions)) {
  const server = await serve((_request, response, number) => {
    if (number > 1) {
      const part = { "content-range": "bytes 5-9/10", "content-length": 5, ...second };
      return response.writeHead(206, part).end("BBBBB");
    }
    response.writeHead(200, { "content-length": 10, ...first });
    response.write("aaaaa");
    setTimeout(() => response.destroy(), 200);
  });
  const dispatcher = new RetryAgent(new Agent(), { minTimeout: 100 });
  const response = await fetch(server.url, { dispatcher });
  const text = await response.text().catch((error) => `${error.message}, ${error.cause?.message}`);
  console.log(`${name}: ${response.status} ${text}`);
  server.close();
}
JS
expect <<'TEXT'
no validator: 200 aaaaaBBBBB
Last-Modified: 200 aaaaaBBBBB
weak ETag: 200 aaaaaBBBBB
strong ETag: 200 terminated, ETag mismatch
TEXT
