import { checkCase } from "./check-case.ts";
import { alteredFiles, CHECKSUMS } from "./checksums.ts";
import { namesOf } from "./data-file.ts";
import { readGoldenFile } from "./golden-file.ts";
import { type RuleId, rules } from "./rules.ts";
import type { Section } from "./section.ts";
import { sections } from "./sections.ts";

/** How many problems of a case are told. */
const MOST_PER_CASE = 5;

/** What the replay of a section found. */
export interface SectionReport {
  readonly section: Section;
  readonly cases: number;
  /** The sums over the cases; see `CaseResult`. */
  readonly compared: number;
  readonly differing: number;
  readonly uncompared: number;
  /** How many cases differ by each rule. */
  readonly rules: ReadonlyMap<RuleId, number>;
  /** What is wrong, a line each, with file, section and case. */
  readonly problems: readonly string[];
}

/** What the replay of a directory found. */
export interface Report {
  readonly sections: readonly SectionReport[];
  /** Files that could be replayed and are not there. */
  readonly missing: readonly string[];
  /** All problems; none means that everything is as in Go or as the rules say. */
  readonly problems: readonly string[];
}

/** Replays every file of golden data in a directory. */
export async function replayDirectory(directory: string): Promise<Report> {
  const present = namesOf(directory).filter((name) => name.endsWith(".json"));
  const covered = [...new Set(sections.map(({ file }) => file))];
  const problems = [
    ...alteredFiles(directory).map((name) => `${name}: does not match ${CHECKSUMS}`),
    ...present.filter((name) => !covered.includes(name)).map((name) => `${name}: unknown file`),
  ];
  const reports: SectionReport[] = [];
  for (const name of covered.filter((name) => present.includes(name))) {
    try {
      reports.push(...(await replayFile(directory, name)));
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`);
    }
  }
  if (reports.length === 0) problems.push(`nothing to replay in ${directory}`);
  return {
    sections: reports,
    missing: covered.filter((name) => !present.includes(name)),
    problems: [...problems, ...reports.flatMap(({ problems }) => problems)],
  };
}

/** Replays the sections of one file. */
async function replayFile(directory: string, name: string): Promise<SectionReport[]> {
  const { cases } = readGoldenFile(directory, name);
  const known = sections.filter(({ file }) => file === name);
  for (const section of cases.keys())
    if (!known.some(({ name }) => name === section)) throw new Error(`unknown section ${section}`);
  const reports: SectionReport[] = [];
  for (const section of known) {
    const list = cases.get(section.name);
    if (list === undefined) throw new Error(`section ${section.name} is missing`);
    reports.push(await replaySection(section, list));
  }
  return reports;
}

/** Replays the cases of a section. */
export async function replaySection(
  section: Section,
  cases: readonly object[],
): Promise<SectionReport> {
  const casesByRule = new Map<RuleId, number>();
  const problems: string[] = [];
  let [compared, differing, uncompared] = [0, 0, 0];
  for (const [index, kase] of cases.entries()) {
    const where = `${section.file} ${section.name}, case ${"id" in kase ? kase.id : index}`;
    try {
      const result = await checkCase(section, kase);
      compared += result.compared;
      differing += result.differing;
      uncompared += result.uncompared;
      for (const rule of result.rules) casesByRule.set(rule, (casesByRule.get(rule) ?? 0) + 1);
      problems.push(...firstOf(result.problems).map((problem) => `${where}, ${problem}`));
    } catch (error) {
      problems.push(`${where}: ${(error as Error).message}`);
    }
  }
  const sums = { cases: cases.length, compared, differing, uncompared };
  return { section, ...sums, rules: casesByRule, problems };
}

/** One wrong value often makes all later ones wrong. */
function firstOf(problems: readonly string[]): string[] {
  const more = problems.length - MOST_PER_CASE;
  return [...problems.slice(0, MOST_PER_CASE), ...(more > 0 ? [`and ${more} more values`] : [])];
}

/** The rules that made no difference where they should, or anywhere, as problems. */
export function unusedRules(reports: readonly SectionReport[]): string[] {
  const used = new Set(reports.flatMap((report) => [...report.rules.keys()]));
  return [
    ...reports.flatMap(({ section, rules: made }) =>
      section.rules
        .filter((rule) => !made.has(rule))
        .map((rule) => `${section.file} ${section.name}: rule ${rule} is no longer needed at all`),
    ),
    ...Object.keys(rules)
      .filter((rule) => !used.has(rule as RuleId))
      .map((rule) => `rule ${rule} is no longer needed at all`),
  ];
}
