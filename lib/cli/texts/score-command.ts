import type { InputOptions } from '../../jobs/texts/rows/input.ts';
import { commandLine } from '../options/command-lines.ts';
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
  const { file, topic = [], columns, skipEmpty, text, id, instructions, model, ...rest } = flags;
  const topics = topic.map(({ topic: name, description }) =>
    description === undefined ? name : `${name}=${description}`,
  );
  const { maxCalls, encoding, separator, output } = rest;
  return commandLine(['score', file], {
    ...{ skipEmpty, text, id, topic: topics, instructions, model, columns: columns?.join(',') },
    ...{ maxCalls, encoding, separator, output, batch },
  });
}
