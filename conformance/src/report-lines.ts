import type { Report, SectionReport } from "./replay.ts";
import { rules } from "./rules.ts";

const MOST_PROBLEMS = 40;

/** A report as it is printed. */
export function reportLines(report: Report): string[] {
  const { sections, missing, problems } = report;
  const total = sections.reduce((sum, { cases }) => sum + cases, 0);
  return [
    ...sections.flatMap(sectionLines),
    ...(missing.length > 0 ? [`missing: ${missing.join(", ")}`] : []),
    ...problems.slice(0, MOST_PROBLEMS),
    ...(problems.length > MOST_PROBLEMS
      ? [`and ${count(problems.length - MOST_PROBLEMS, "more problem")}`]
      : []),
    problems.length === 0
      ? `${count(total, "case")}: as in Go, or by a rule`
      : `FAILED: ${count(problems.length, "problem")} in ${count(total, "case")}`,
  ];
}

function sectionLines(report: SectionReport): string[] {
  const { section, cases, compared, differing, uncompared } = report;
  const name = section.name === "cases" ? section.file : `${section.file} ${section.name}`;
  const asInGo = (compared - differing).toLocaleString("en-US");
  return [
    `${name}: ${count(cases, "case")}, ${count(compared, "compared value")}, ${asInGo} of them as in Go`,
    ...[...report.rules]
      .sort(([, one], [, other]) => other - one)
      .map(
        ([rule, cases]) =>
          `  ${count(cases, "case")} ${cases === 1 ? "differs" : "differ"} by rule ${rule} (${rules[rule].reason})`,
      ),
    ...(uncompared > 0
      ? [`  ${count(uncompared, "recorded value")} without a counterpart here`]
      : []),
  ];
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
