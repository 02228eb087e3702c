import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { type GroupName, groups } from './groups.ts';
import type { Mutant } from './report.ts';

type Result = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

/** How much longer than without a mutant the tests of one may take, in milliseconds: then it counts as killed. */
const SPARE_MS = 10_000;

/**
 * Changes the code of a group in one place after another, in a copy of the project, and runs the tests that reach that
 * place. `files`: globs of the code to change; default: all of the group. Throws if a test fails without any change.
 */
export async function mutate(name: GroupName, files: readonly string[] = []): Promise<readonly Mutant[]> {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-mutants-'));
  // Read by vitest.config.ts, in the processes that run the tests.
  process.env['MUTANTS_GROUP'] = name;
  try {
    const stryker = new Stryker({
      mutate: [...(files.length > 0 ? files : groups[name].mutate)],
      testRunner: 'vitest',
      plugins: ['@stryker-mutator/vitest-runner'],
      vitest: { configFile: 'test/proofs/mutations/vitest.config.ts', related: false },
      coverageAnalysis: 'perTest',
      // Code that runs only once, at import, would take a new process a mutant.
      ignoreStatic: true,
      // Most texts are for people, and a tag that is misspelt does not compile.
      mutator: { excludedMutations: ['StringLiteral'] },
      // Stryker would read it with an interface that TypeScript 7 lacks, only to rewrite paths that lead out of the copy.
      tsconfigFile: 'none',
      tempDirName: folder,
      ignorePatterns: ['/docs', '/infra', '/cdk.out', '/platform-sync-data'],
      reporters: ['progress-append-only'],
      timeoutMS: SPARE_MS,
      dryRunTimeoutMinutes: 20,
      concurrency: availableParallelism(),
    });
    return (await stryker.runMutationTest()).filter(({ status }) => status !== 'Ignored').map(mutantOf);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mutantOf({ fileName, location, replacement, status }: Result): Mutant {
  const { start, end } = location;
  const lines = readFileSync(fileName, 'utf8').split('\n');
  const within = lines.slice(start.line - 1, end.line);
  const last = within.length - 1;
  const changed = within
    .map((line, at) => line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined))
    .join('\n');
  return {
    file: relative('.', fileName),
    line: start.line,
    code: (lines[start.line - 1] ?? '').trim(),
    from: onOneLine(changed),
    to: onOneLine(replacement ?? ''),
    status,
  };
}

const onOneLine = (code: string): string => code.replace(/\s+/g, ' ').trim();
