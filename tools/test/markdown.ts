/** A link of a Markdown file, as written. */
export interface Link {
  readonly line: number;
  readonly target: string;
}

/** Every link and picture of a text, outside code. */
export function linksOf(text: string): Link[] {
  return prose(text).flatMap(({ line, content }) =>
    [...content.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => ({
      line,
      target,
    })),
  );
}

/** Every word of a text that is written as code. */
export function codeWordsOf(text: string): Link[] {
  return prose(text).flatMap(({ line, content }) =>
    [...content.matchAll(/`([^`]+)`/g)].map(([, target = ""]) => ({ line, target })),
  );
}

/** The anchors that GitHub gives to the headings of a text. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = prose(text).flatMap(({ content }) => {
    const heading = /^#{1,6} (.*)$/.exec(content)?.[1];
    if (heading === undefined) return [];
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    return [before === 0 ? slug : `${slug}-${before}`];
  });
  return new Set(anchors);
}

/** The lines of a text that are not inside a block of code. */
function prose(text: string): { line: number; content: string }[] {
  let fence: string | undefined;
  return text.split("\n").flatMap((content, index) => {
    const ticks = /^\s*(`{3,})/.exec(content)?.[1];
    if (ticks !== undefined && (fence === undefined || fence === ticks)) {
      fence = fence === undefined ? ticks : undefined;
      return [];
    }
    return fence === undefined ? [{ line: index + 1, content }] : [];
  });
}
