// The search box: ranks guides and names, and shows the section that answers. Its data is `holdfastIndex`.
{
  /** How much a match is worth by the group of its page. */
  const GROUPS = {
    Guides: 1,
    Comparisons: 0.7,
    Exports: 0.6,
    Members: 0.15,
    Project: 0.25,
    Decisions: 0.2,
  };
  const WEIGHTS = { name: 10, words: 7, headings: 3, body: 2 };
  const STOP =
    /^(an?|and|are|at|be|by|can|do|does|for|from|how|i|if|in|is|it|its|my|of|on|or|should|that|the|there|to|what|when|where|which|why|will|with|your)$/;
  const SHOWN = 10;

  /** Words, and the parts of those that are made of several: client-go, keepConnected. */
  const wordsOf = (text) =>
    text.match(/[\p{L}\p{N}@_]+(?:[-.:/'][\p{L}\p{N}@_]+)*/gu)?.flatMap((word) => {
      const parts = word.replaceAll(/([a-z\d])(?=[A-Z])/g, "$1 ").split(/[^\p{L}\p{N}]+/u);
      return parts.length > 1 ? [word, ...parts] : [word];
    }) ?? [];
  const fieldOf = (text) =>
    ` ${wordsOf(text)
      .map((word) => word.toLowerCase())
      .filter((word) => !STOP.test(word))
      .join(" ")} `;
  const stemOf = (word) =>
    word.length < 5 ? word : word.replace(/(?:ies|ying|ing|ed|es|s|y|e)$/, "");

  const entries = holdfastIndex.map((entry) => {
    const { name, words, sections } = entry;
    const parts = sections.map(([heading, , text]) => [fieldOf(heading), fieldOf(text)]);
    const headings = parts.map(([heading]) => heading).join("");
    const body = parts.map(([, text]) => text).join("");
    return {
      ...entry,
      parts,
      fields: { name: fieldOf(name), words: fieldOf(words), headings, body },
    };
  });

  /** 1 for the word itself, less for another form of it or a part of a word, 0 without a match. */
  const match = (field, term) => {
    if (field.includes(` ${term} `)) return 1;
    if (field.includes(` ${stemOf(term)}`)) return 0.6;
    return term.length > 3 && field.includes(term) ? 0.2 : 0;
  };
  const often = (field, term) => Math.min(field.split(` ${stemOf(term)}`).length - 1, 5) / 5;
  const found = ({ fields }, term) => Object.values(fields).some((field) => match(field, term) > 0);

  /** The words to look for, each with its weight: the rarer, the more. */
  const termsOf = (query) => {
    const whole = query.toLowerCase().match(/[^\s,;^~*"()]+/g) ?? [];
    const known = whole.flatMap((word) =>
      entries.some((entry) => found(entry, word)) ? [word] : wordsOf(word),
    );
    const words = known.filter((word) => !STOP.test(word));
    const guides = entries.filter(({ group }) => group === "Guides");
    return (words.length > 0 ? words : known).map((term) => {
      const count = guides.filter((entry) => found(entry, term)).length;
      return { term, weight: Math.log(1 + guides.length / (1 + count)) };
    });
  };

  const sum = (worths, terms) =>
    worths.reduce((all, worth, index) => all + worth * terms[index].weight, 0);

  /** The section that says most about the terms, and what each of them is worth to it: words far apart are no answer. */
  const bestOf = (parts, terms) =>
    parts
      .map(([heading, text], index) => {
        const worths = terms.map(
          ({ term }) =>
            WEIGHTS.headings * match(heading, term) +
            WEIGHTS.body * match(text, term) * (0.3 + often(text, term)),
        );
        return { index, worths };
      })
      .reduce((one, other) => (sum(other.worths, terms) > sum(one.worths, terms) ? other : one));

  const scoreOf = (entry, terms, query) => {
    const { fields, group, name, parts } = entry;
    const shortness = 1 / Math.sqrt(fields.name.split(" ").length - 2);
    const page = terms.map(
      ({ term }) =>
        WEIGHTS.name * match(fields.name, term) * shortness +
        WEIGHTS.words * match(fields.words, term),
    );
    const best = bestOf(parts, terms);
    const worths = page.map((worth, index) => worth + best.worths[index]);
    const matched =
      sum(
        worths.map((worth) => (worth > 0 ? 1 : 0)),
        terms,
      ) /
      sum(
        worths.map(() => 1),
        terms,
      );
    let score = sum(worths, terms);
    const phrase = ` ${terms.map(({ term }) => term).join(" ")}`;
    const [heading, text] = parts[best.index];
    if (terms.length > 1)
      for (const [field, factor] of [
        [fields.name, 1.5],
        [fields.words, 1.5],
        [heading, 1.2],
        [text, 1.1],
      ])
        if (field.includes(phrase)) score *= factor;
    if (group === "Exports" && name.toLowerCase() === query.toLowerCase()) score *= 10;
    return score * GROUPS[group] * matched ** 2;
  };

  /** The section of an entry that says most about the terms; the first one unless another says more. */
  const sectionOf = ({ parts, sections }, terms) => sections[bestOf(parts, terms).index];

  const element = (name, className, ...children) => {
    const made = document.createElement(name);
    made.className = className;
    made.append(...children);
    return made;
  };

  /** Text with the terms marked. */
  const marked = (text, terms) => {
    const all = terms.map(({ term }) => stemOf(term).replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    const pieces = text.split(
      new RegExp(`((?<![\\p{L}\\p{N}])(?:${all.join("|")})[\\p{L}\\p{N}]*)`, "iu"),
    );
    return pieces.map((piece, index) => (index % 2 === 1 ? element("mark", "", piece) : piece));
  };

  /** The part of a text around the first term. */
  const excerptOf = (text, terms) => {
    const places = terms.map(({ term }) => text.toLowerCase().indexOf(stemOf(term)));
    const first = Math.min(...places.filter((place) => place >= 0), text.length);
    const begin = first > 80 && first < text.length ? text.indexOf(" ", first - 60) + 1 : 0;
    const end = begin + 150 < text.length ? text.lastIndexOf(" ", begin + 150) : text.length;
    return `${begin > 0 ? "… " : ""}${text.slice(begin, end)}${end < text.length ? " …" : ""}`;
  };

  const SVG = "http://www.w3.org/2000/svg";
  const iconOf = (kind) => {
    const [icon, use] = [
      document.createElementNS(SVG, "svg"),
      document.createElementNS(SVG, "use"),
    ];
    for (const [name, value] of Object.entries({
      width: 20,
      height: 20,
      class: "tsd-kind-icon",
      "aria-hidden": true,
    }))
      icon.setAttribute(name, value);
    use.setAttribute("href", `#icon-${kind}`);
    icon.append(use);
    return icon;
  };

  const option = (entry, terms, index) => {
    const { name, parent, url, kind } = entry;
    const [heading, anchor, text] = sectionOf(entry, terms);
    const title = element("span", "name", ...marked(name, terms));
    const place = element("span", "section", ...marked(heading || parent, terms));
    const excerpt = element("span", "excerpt", ...marked(excerptOf(text, terms), terms));
    const link = element("a", "", iconOf(kind), element("span", "text", title, place, excerpt));
    link.href = document.documentElement.dataset.base.replace(/\/?$/, "/") + url + anchor;
    link.tabIndex = -1;
    const item = element("li", "", link);
    Object.assign(item, { id: `tsd-search:${index}`, role: "option", ariaSelected: "false" });
    return item;
  };

  const begin = () => {
    const [results, input, status] = ["results", "input", "status"].map((name) =>
      document.getElementById(`tsd-search-${name}`),
    );
    const show = () => {
      const query = input.value.trim();
      const terms = termsOf(query);
      const scored = entries.map((entry) => [scoreOf(entry, terms, query), entry]);
      const best = scored.filter(([score]) => score > 0).sort(([a], [b]) => b - a);
      const options = best.slice(0, SHOWN).map(([, entry], index) => option(entry, terms, index));
      results.replaceChildren(...options);
      input.removeAttribute("aria-activedescendant");
      const isNone = query !== "" && options.length === 0;
      status.replaceChildren(isNone ? element("div", "", `No results for "${query}"`) : "");
    };
    input.addEventListener("input", show);
    show();
  };
  // The script may come before the page.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
}
