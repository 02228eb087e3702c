import type { Change } from './changes.ts';

/** A change of the code, and whether the tests noticed it. */
export type Mutant = Omit<Change, 'id'> & {
  /** The status as Stryker names it. A mutant that no test reaches has `NoCoverage`. */
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage';
};

export type GroupReport = {
  readonly group: string;
  readonly mutants: number;
  readonly killed: number;
  readonly timedOut: number;
  readonly survived: readonly Mutant[];
};

/** The share of a group's mutants that must be noticed. */
const GOAL = 0.9;

export function reportOf(group: string, mutants: readonly Mutant[]): GroupReport {
  const countOf = (wanted: Mutant['status']) => mutants.filter(({ status }) => status === wanted).length;
  const survived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  return {
    group,
    mutants: mutants.length,
    killed: countOf('Killed'),
    timedOut: countOf('Timeout'),
    survived,
  };
}

/** The share of mutants that were noticed, from 0 to 1; 1 for a group without mutants. A timeout counts as noticed. */
const scoreOf = ({ mutants, survived }: GroupReport): number =>
  mutants === 0 ? 1 : (mutants - survived.length) / mutants;

/** How many standard deviations below the goal a sample may be. One sample in 700 is further below by chance. */
const DEVIATIONS = 3;

/**
 * Whether enough changes of a sample were noticed for the tests to reach the goal over all changes. It detects
 * tests that no longer work, not a rule without tests: only the run of a whole group finds that.
 */
export function reachesFloor(reports: readonly GroupReport[]): boolean {
  const mutants = reports.reduce((sum, report) => sum + report.mutants, 0);
  const survived = reports.reduce((sum, report) => sum + report.survived.length, 0);
  const floor = GOAL - DEVIATIONS * Math.sqrt((GOAL * (1 - GOAL)) / mutants);
  return mutants > 0 && (mutants - survived) / mutants >= floor;
}

/** Whether the share of noticed mutants reaches the goal. */
export const reachesGoal = (report: GroupReport): boolean => scoreOf(report) >= GOAL;

const HEADINGS = ['group', 'mutants', 'killed', 'timed out', 'survived', 'score'];

/** A table with one line per group, and the survivors of each. */
export function printed(reports: readonly GroupReport[]): string {
  const rows = reports.map((report) => [
    report.group,
    String(report.mutants),
    String(report.killed),
    String(report.timedOut),
    String(report.survived.length),
    `${(100 * scoreOf(report)).toFixed(1)} %`,
  ]);
  const lines = reports.flatMap(({ survived }) => survived.map(lineOf));
  const table = [HEADINGS, HEADINGS.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [...table, '', ...lines].join('\n').trimEnd();
}

function lineOf({ file, line, from, to, status }: Mutant): string {
  const place = `${file}:${line}`;
  const reach = status === 'NoCoverage' ? ', which no test reaches' : '';
  return `${place}  ${from} → ${to === '' ? 'nothing' : to}${reach}`;
}
