import { globSync, readFileSync } from 'node:fs';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import type { Change } from './changes.ts';

/** The code of all files with every change in it, each behind a switch, and the list of changes. */
export type Instrumented = {
  readonly code: Readonly<Record<string, string>>;
  readonly changes: readonly Change[];
};

function silent(): void {}
const off = () => false;
const logger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent, fatal: silent },
  ...{ isTraceEnabled: off, isDebugEnabled: off, isInfoEnabled: off },
  ...{ isWarnEnabled: off, isErrorEnabled: off, isFatalEnabled: off },
};

/** Adds every possible change to the files that match the globs. The code behaves as before until a change is switched on. */
export async function instrument(globs: readonly string[]): Promise<Instrumented> {
  const names = [...new Set(globs.flatMap((glob) => globSync(glob)))].sort();
  const originals = new Map(names.map((name) => [name, readFileSync(name, 'utf8')]));
  const files = [...originals].map(([name, content]) => ({ name, content, mutate: true }));
  // String literals are not changed: most are texts for people, and a misspelt tag does not compile.
  const options = { plugins: null, excludedMutations: ['StringLiteral'], ignorers: [] };
  const { files: instrumented, mutants } = await new Instrumenter(logger).instrument(files, options);
  return {
    code: Object.fromEntries(instrumented.map(({ name, content }) => [name, content])),
    changes: mutants
      .filter(({ status }) => status !== 'Ignored')
      .map((mutant) => changeOf(mutant, originals.get(mutant.fileName) ?? '')),
  };
}

type StrykerMutant = Awaited<ReturnType<Instrumenter['instrument']>>['mutants'][number];

/** Lines and columns of an instrumenter begin at 0. */
function changeOf({ id, fileName, location, replacement }: StrykerMutant, original: string): Change {
  const { start, end } = location;
  const lines = original.split('\n');
  const within = lines.slice(start.line, end.line + 1);
  const last = within.length - 1;
  const changed = within
    .map((line, at) => line.slice(at === 0 ? start.column : 0, at === last ? end.column : undefined))
    .join('\n');
  return {
    id,
    file: fileName,
    line: start.line + 1,
    from: onOneLine(changed),
    to: onOneLine(replacement ?? ''),
  };
}

const onOneLine = (code: string): string => code.replace(/\s+/g, ' ').trim();
