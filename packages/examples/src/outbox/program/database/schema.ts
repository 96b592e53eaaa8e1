/** On a server, all that this program makes is in here, away from anybody's own outbox. */
export const SCHEMA = "holdfast_outbox_demo";

/** The URL of a server with that schema as the one that tables are looked for in. */
export function inSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set("options", `-c search_path=${SCHEMA}`);
  // A plus is a space in forms only.
  return url.href.replaceAll("+", "%20");
}
