import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FuzzTarget } from './target.ts';
import { answers } from './targets/answers.ts';
import { formulas } from './targets/formulas.ts';
import { messages } from './targets/messages.ts';
import { responses } from './targets/responses.ts';
import { rows } from './targets/rows.ts';
import { settings } from './targets/settings.ts';

/** Everything that is fuzzed. */
export const fuzzTargets: readonly FuzzTarget[] = [responses, answers, messages, rows, formulas, settings];

/** The target of a name. Throws `TypeError` for an unknown name. */
export function targetNamed(name: string): FuzzTarget {
  const found = fuzzTargets.find((target) => target.name === name);
  if (found !== undefined) return found;
  throw new TypeError(`expected one of ${fuzzTargets.map((each) => each.name).join(', ')}, got ${name}`);
}

/** A stored input: one that broke a property once, or that shows behaviour that must stay. */
export type CorpusInput = { readonly file: string; readonly input: unknown };

const FOLDER = join(import.meta.dirname, 'corpus');

/** The inputs that are always tried for a target, ordered by file name: `corpus/TARGET-NAME.json`. */
export const corpusOf = (target: string): readonly CorpusInput[] =>
  globSync(join(FOLDER, `${target}-*.json`))
    .toSorted()
    .map((path) => ({ file: basename(path), input: JSON.parse(readFileSync(path, 'utf8')) }));
