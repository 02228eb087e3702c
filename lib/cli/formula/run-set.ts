import type { JobFile } from '../../jobs/file/job-file.ts';
import { notDoneLines, runAll } from '../commands/run.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { counted, inJson } from '../terminal/words.ts';

type SetToRun = {
  readonly name: string;
  readonly jobs: JobFile;
  /** The command line that runs what is left. */
  readonly again: string;
  readonly json: true | undefined;
};

/** Runs the jobs of a set of formulas in this process, and says how they ended; returns the exit code. */
export async function runSet({ name, jobs, again, json }: SetToRun, terminal: Terminal): Promise<number> {
  const { counts, fault } = await runAll(jobs, {}, terminal);
  const { done, failed, unknown, left } = counts;
  if (json) terminal.out(inJson({ set: name, rows: jobs.count, ...counts }));
  else {
    const words = `${done} done, ${failed} failed, ${unknown} unknown, ${left} left`;
    terminal.out(`${name}: ${counted(jobs.count, 'formula')}: ${words}`);
    for (const line of notDoneLines(counts)) terminal.out(shown(line));
  }
  if (left > 0) terminal.err(shown(`stopped; ${counted(left, 'formula')} left; to set the rest: ${again}`));
  if (fault === undefined) return done === jobs.count ? exitCodes.done : exitCodes.incomplete;
  terminal.err(shown(fault.words));
  return fault.code;
}
