import type { Command } from 'commander';
import { idDigits } from '../../platform/index.ts';
import { placeOf } from '../../snapshot/keys.ts';
import { type Source, sourceDefinitions, sources } from '../../snapshot/sources/sources.ts';
import { type CommandDefinition, defineCommand } from '../command.ts';
import { UsageError } from '../errors/usage-error.ts';
import { collected, readText, runOrLast } from '../options/options.ts';
import { checkPlaceName, optionsGiven, readRequest, requestOptions } from '../options/request-options.ts';
import type { RunToTake } from '../snapshots/run-snapshot.ts';
import { NO_TABLES } from '../snapshots/show-publication.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The options that declare ids as expected to be missing. */
const EXPECT_MISSING = [
  [
    '--expect-missing <id>',
    'an id that may be missing: the exit code is not 3 because of it; may be repeated',
    (text: string, before?: readonly string[]) => collected(text, before),
  ],
  ['--expect-missing-from <file>', 'a file with one such id a line; - reads standard input'],
] as const;

type ExpectFlags = { readonly expectMissing?: readonly string[]; readonly expectMissingFrom?: string };

/** Says whether an id was declared as expected to be missing. A file may have no ids. */
async function readExpected(
  { expectMissing = [], expectMissingFrom }: ExpectFlags,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<(id: string) => boolean> {
  const lines = expectMissingFrom === undefined ? '' : await readText(expectMissingFrom, terminal);
  const ids = [...expectMissing, ...lines.split('\n').map((line) => line.trim())];
  const expected = new Set(ids.map(sameId));
  return (id) => expected.has(sameId(id));
}

/** Ids as they are compared: integers by their digits, others without regard to letter case. */
const sameId = (id: string): string => idDigits(id) ?? id.toLowerCase();

const snapshotOf = (source: Source) =>
  defineCommand({
    does: sourceDefinitions[source].takes,
    more: requestOptions(source),
    options: [
      ...EXPECT_MISSING,
      ['--as <name>', 'give a narrowed snapshot a place of its own: SOURCE.NAME/'],
      ['--resume <run>', 'resume a run that was stopped; last: the one that started last', runOrLast],
      ['--force', 'publish even if a gate refuses; the manifest says so'],
      NO_TABLES,
      ['--json', 'print the manifest, and whether the run was published, as one JSON value'],
    ],
    examples: EXAMPLES[source],
    async run(_, flags, terminal, command) {
      const isExpected = await readExpected(flags, terminal);
      const taken = await runToTake(command, source, flags, terminal);
      const { runSnapshot } = await import('../snapshots/run-snapshot.ts');
      return runSnapshot(taken, { ...flags, isExpected }, terminal);
    },
  });

const FILESET = '5ab50524-9b3d-4a75-b88a-f20ea274b5d8';

const EXAMPLES = {
  calculations: [
    'snapshot calculations',
    'snapshot calculations --name Revenue --as revenue',
    'snapshot calculations --resume last',
  ],
  files: [
    `snapshot files --fileset ${FILESET}`,
    `snapshot files --fileset ${FILESET} --directory /reports --since 2026-11-01 --as reports`,
  ],
  cards: ['snapshot cards', 'snapshot cards --dataset cd27b9a0-a9d4-446b-9b16-02103df7f112 --no-drill'],
  'data-files': ['snapshot data-files --id 40009 --id 40030', 'snapshot data-files --ids-from ids.txt'],
} as const satisfies Record<Source, readonly string[]>;

/** `snapshot SOURCE`: copies all records of a source into the store and publishes them. */
export const snapshot: CommandDefinition = {
  does: 'Copy all records of a source into the store, and publish them.',
  examples: ['snapshot calculations', 'snapshot calculations --resume last'],
  below: Object.fromEntries(sources.map((source) => [source, snapshotOf(source)])),
};

async function runToTake(
  command: Command,
  source: Source,
  { as, resume: run }: { readonly as?: string; readonly resume?: string },
  { readInput }: Terminal,
): Promise<RunToTake> {
  if (run === undefined) return { kind: 'new', ...(await readRequest(command, source, { as, readInput })) };
  const given = optionsGiven(command, source);
  if (given.length > 0)
    throw new UsageError(
      `--resume: expected nothing else that selects records, since the run already has its selection, got ${given.join(', ')}`,
    );
  return { kind: 'resumed', place: placeOf(source, checkPlaceName(as)), run };
}
