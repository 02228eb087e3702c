import type { InputOptions } from '../../jobs/texts/rows/input.ts';
import { quoted } from '../../json/shell-words.ts';
import type { TopicGiven } from '../options/options.ts';

/** The options of `score`. */
export type ScoreFlags = {
  readonly text: string;
  readonly id?: string;
  readonly topic?: readonly TopicGiven[];
  readonly instructions?: string;
  readonly model?: string;
  readonly columns?: readonly string[];
  readonly maxCalls?: number;
  readonly dryRun?: true;
  readonly batch?: string;
  readonly encoding?: string;
  readonly separator?: string;
  readonly skipEmpty?: true;
  readonly output?: string;
  readonly json?: true;
};

/** How the rows of a file are read. */
export const rowsOptions = (
  file: string,
  { text, id, columns, encoding, separator, skipEmpty }: ScoreFlags,
): InputOptions => ({ name: file, text, id, columns, encoding, separator, skipEmpty });

/** The command line that resumes the batch: what has been scored is not paid for again. */
export function resumeCommandOf(flags: ScoreFlags & { readonly file: string }, batch: string): string {
  const { file, text, id, topic = [], instructions, model, columns, maxCalls, encoding, separator } = flags;
  const given: readonly (readonly [string, string | number | undefined])[] = [
    ['--text', text],
    ['--id', id],
    ...topic.map(
      ({ topic: name, description }) =>
        ['--topic', description === undefined ? name : `${name}=${description}`] as const,
    ),
    ['--instructions', instructions],
    ['--model', model],
    ['--columns', columns?.join(',')],
    ['--max-calls', maxCalls],
    ['--encoding', encoding],
    ['--separator', separator],
    ['--output', flags.output],
    ['--batch', batch],
  ];
  const words = given.flatMap(([name, value]) => (value === undefined ? [] : [name, quoted(String(value))]));
  const switches = flags.skipEmpty ? ['--skip-empty'] : [];
  return ['platform-sync score', quoted(file), ...switches, ...words].join(' ');
}
