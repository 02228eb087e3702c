import { matchesGlob } from 'node:path';

/** A change of the code, and what the tests made of it. */
export type Mutant = {
  /** From the root of the project. */
  readonly file: string;
  /** 1 is the first. */
  readonly line: number;
  /** That line, without its indent. */
  readonly code: string;
  /** What was replaced, and what by, each on one line. */
  readonly from: string;
  readonly to: string;
  /** In Stryker's words. A mutant that no test reaches has `NoCoverage`. */
  readonly status: string;
};

/** Survivors that a person has looked at. */
export type LookedAt = {
  /** A glob. */
  readonly file: string;
  /** A part of the line that is changed, or of what is replaced: so it is found when lines move. */
  readonly code: string;
  /** What replaces it, each as the report prints it. Default: whatever does. */
  readonly to?: readonly string[];
  /** Why no test is needed: nothing can be observed, or what can be does no harm. */
  readonly why: string;
};

export type GroupReport = {
  readonly group: string;
  readonly mutants: number;
  readonly killed: number;
  readonly timedOut: number;
  readonly survived: readonly Survivor[];
};

type Survivor = Mutant & {
  /** Undefined if nobody has looked at it. */
  readonly why: string | undefined;
};

/** How many mutants of a group must be killed, as a share, unless every survivor was looked at. */
const GOAL = 0.9;

const KILLED: readonly string[] = ['Killed', 'RuntimeError', 'CompileError'];
const TIMED_OUT = 'Timeout';

export function reportOf(
  group: string,
  mutants: readonly Mutant[],
  lookedAt: readonly LookedAt[],
): GroupReport {
  const isDead = ({ status }: Mutant) => KILLED.includes(status) || status === TIMED_OUT;
  const timedOut = mutants.filter(({ status }) => status === TIMED_OUT).length;
  const survived = mutants
    .filter((mutant) => !isDead(mutant))
    .map((mutant) => ({ ...mutant, why: lookedAt.find(isOf(mutant))?.why }));
  return {
    group,
    mutants: mutants.length,
    killed: mutants.length - survived.length - timedOut,
    timedOut,
    survived,
  };
}

const isOf =
  ({ file, code, from, to }: Mutant) =>
  (looked: LookedAt): boolean =>
    matchesGlob(file, looked.file) &&
    (code.includes(looked.code) || from.includes(looked.code)) &&
    (looked.to?.includes(to) ?? true);

/** Between 0 and 1; 1 for a group without mutants. A mutant that ran out of time was noticed. */
const scoreOf = ({ mutants, survived }: GroupReport): number =>
  mutants === 0 ? 1 : (mutants - survived.length) / mutants;

/** The same in a sample of all groups, where chance decides a few of a hundred, and whoever looks at survivors comes later. */
const FLOOR = 0.85;

/** Whether so many of a sample's changes were noticed that the tests hold what they held. */
export function reachesFloor(reports: readonly GroupReport[]): boolean {
  const mutants = reports.reduce((sum, report) => sum + report.mutants, 0);
  const survived = reports.reduce((sum, report) => sum + report.survived.length, 0);
  return mutants > 0 && (mutants - survived) / mutants >= FLOOR;
}

/** Whether a group is as well tested as it should be. */
export const reachesGoal = (report: GroupReport): boolean =>
  scoreOf(report) >= GOAL || report.survived.every(({ why }) => why !== undefined);

const HEADINGS = ['group', 'mutants', 'killed', 'timed out', 'survived', 'looked at', 'score'];

/** A table with a line a group, and the survivors of each. */
export function printed(reports: readonly GroupReport[]): string {
  const rows = reports.map((report) => [
    report.group,
    String(report.mutants),
    String(report.killed),
    String(report.timedOut),
    String(report.survived.length),
    String(report.survived.filter(({ why }) => why !== undefined).length),
    `${(100 * scoreOf(report)).toFixed(1)} %`,
  ]);
  const lines = reports.flatMap(({ survived }) => survived.map(lineOf));
  return [...alignedRows([HEADINGS, ...rows]), '', ...lines].join('\n').trimEnd();
}

function lineOf({ file, line, from, to, status, why }: Survivor): string {
  const place = `${file}:${line}`;
  const reach = status === 'NoCoverage' ? ', which no test reaches' : '';
  return `${place}  ${from} → ${to === '' ? 'nothing' : to}${reach}${why === undefined ? '' : `\n    looked at: ${why}`}`;
}

function alignedRows(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  '),
  );
}
