import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** An input of the past: what broke a property, or shows something that must stay. */
export type CorpusInput = { readonly file: string; readonly input: unknown };

const FOLDER = join(import.meta.dirname, 'corpus');

/** The inputs that are always tried for a target, in the order of their names: `corpus/TARGET-NAME.json`. */
export const corpusOf = (target: string): readonly CorpusInput[] =>
  globSync(join(FOLDER, `${target}-*.json`))
    .toSorted()
    .map((path) => ({ file: basename(path), input: JSON.parse(readFileSync(path, 'utf8')) }));
