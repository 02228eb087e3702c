import { globSync, readFileSync } from 'node:fs';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import type { Change } from './changes.ts';

/** Code with all of its changes in it, each behind a switch, and what they are. */
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

/** Puts every change of the files that match the globs into their code, which is as before until one is switched on. */
export async function instrument(globs: readonly string[]): Promise<Instrumented> {
  const names = [...new Set(globs.flatMap((glob) => globSync(glob)))].sort();
  const originals = new Map(names.map((name) => [name, readFileSync(name, 'utf8')]));
  const files = [...originals].map(([name, content]) => ({ name, content, mutate: true }));
  // Most texts are for people, and a tag that is misspelt does not compile.
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
