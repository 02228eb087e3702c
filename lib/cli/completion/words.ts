import type { Argument, Command, Option } from 'commander';
import { sources } from '../../snapshot/sources/sources.ts';
import { pathOf } from '../command.ts';

/** A word that may come next, and what it means. */
export type Word = { readonly word: string; readonly means: string };

/** What may be typed after the words that lead to a command. */
export type Place = {
  /** These words; '' for the program itself. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** What its first argument may be, if that is one of a few words. */
  readonly values: readonly string[];
  /** Options that are followed by a value, which may be a file. */
  readonly takeValues: readonly string[];
};

/** All places of a program, the program itself first. */
export function placesOf(command: Command): readonly Place[] {
  const shown = command.commands.filter((each) => each.name() !== 'help');
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== undefined);
  return [
    {
      path: pathOf(command),
      commands: shown.map((each) => ({ word: each.name(), means: firstSentence(each.description()) })),
      options: [...options.map(wordOf), { word: '--help', means: 'display help' }],
      values: valuesOf(command.registeredArguments),
      takeValues: options.filter(({ required }) => required).map(({ long }) => long ?? ''),
    },
    ...shown.flatMap(placesOf),
  ];
}

const wordOf = ({ long, description }: Option): Word => ({
  word: long ?? '',
  means: firstSentence(description),
});

function valuesOf([first]: readonly Argument[]): readonly string[] {
  if (first?.argChoices !== undefined) return first.argChoices;
  return first !== undefined && ['source', 'place'].includes(first.name()) ? sources : [];
}

/** One line that no shell reads anything into. */
const firstSentence = (text: string) =>
  (text.split(/[.;:(]/, 1)[0] ?? '').replaceAll(/['’"`$\\[\]]/g, '').trim();
