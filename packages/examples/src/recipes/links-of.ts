/** The links of a page to its own site, as absolute URLs without fragments. */
export function linksOf(html: string, page: string): string[] {
  return [...html.matchAll(/<a\s[^>]*href="([^"#]+)/gi)].flatMap(([, href = ""]) => {
    const url = URL.canParse(href, page) ? new URL(href, page) : undefined;
    return url?.origin === new URL(page).origin ? [url.href] : [];
  });
}
