import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, progressOf, type Sample, sampleOf } from './changes.ts';
import { type GroupName, groups } from './groups.ts';
import { instrument } from './instrument.ts';
import type { Mutant } from './report.ts';
import { runTests } from './run-tests.ts';

/**
 * Changes one expression of a group's code after another, and runs the tests that reach it. Each core runs one
 * process, which switches on its share of the changes one after another. `files`: globs of the code to change;
 * default: the whole group. `sample`: only these changes are tried, by one process, since most of the time goes to
 * the tests without a change. Code that runs only at import is skipped. Throws if a test fails without any change.
 */
export async function mutate(
  group: GroupName,
  files: readonly string[] = [],
  sample?: Sample,
): Promise<readonly Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-mutants-'));
  const inFolder = (name: string, value: unknown): string => {
    writeFileSync(join(folder, name), JSON.stringify(value));
    return join(folder, name);
  };
  try {
    const { code, changes } = await instrument(files.length > 0 ? files : groups[group].mutate);
    const instrumentedFile = inFolder('instrumented.json', { code });
    const shares =
      sample === undefined ? sharesOf(changes, availableParallelism()) : [sampleOf(changes, sample)];
    const processes = shares.map((share, at) =>
      runTests({
        group,
        instrumentedFile,
        changesFile: inFolder(
          `changes-${at}.json`,
          share.map(({ id }) => id),
        ),
        journalFile: join(folder, `journal-${at}`),
      }),
    );
    // If one process fails, the others still write to the folder.
    await Promise.allSettled(processes);
    const events = await Promise.all(processes);
    const mutants = shares.flatMap((share, at) => outcomesOf(share, progressOf(events[at] ?? [])));
    return mutants.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Splits the changes among processes. Neighbours go to different ones, since changes of one place take about equally long. */
const sharesOf = (changes: readonly Change[], count: number): readonly (readonly Change[])[] =>
  Array.from({ length: count }, (_, share) => changes.filter((_change, at) => at % count === share));

function outcomesOf(changes: readonly Change[], progress: ReturnType<typeof progressOf>): readonly Mutant[] {
  const { noticed, reached, imported, unsure } = progress;
  if (unsure.size > 0)
    console.error(`${unsure.size} tests failed without a change too, after they had run with some`);
  return changes
    .filter(({ id }) => reached.has(id) || !imported.has(id))
    .map(({ id, ...change }) => ({
      ...change,
      status: noticed.get(id) ?? (reached.has(id) ? 'Survived' : 'NoCoverage'),
    }));
}
