import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { parquetFolder } from '../../lib/snapshot/keys.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { readLastPublication } from '../../lib/snapshot/publish/publish-parts.ts';
import { beginRun } from '../../lib/snapshot/run/begin-run.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { fileName } from '../../lib/tables/parquet/part-files.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { isWhole, sampled } from '../scale.ts';
import { runCommand, settingsOf } from './run-command.ts';

const PLACE = 'calculations';
const root = folderOfAll();
const FUTURE = { day: '2099-01-01', run: '20990101T000000Z-ffffff', startedAt: '2099-01-01T00:00:00.000Z' };

let sandbox: Sandbox;
/** An intact store: two published runs, a refused one, and one that was stopped right after it began. */
let sound: string;
let last: Manifest & { readonly key: string };
let refused: string;
let stopped: string;

const run = (folder: string, argv: readonly string[]) => runCommand(argv, settingsOf(sandbox, folder));

async function begin(): Promise<string> {
  const options = { compression: 'gzip', platform: new URL(sandbox.url).host } as const;
  const store = createDirectoryStore(sound);
  const { checkpoint } = await beginRun(
    { source: PLACE },
    { store, ...options, now: Date.now, random: Math.random },
  );
  return checkpoint.run;
}

beforeAll(async () => {
  sound = join(root, 'sound');
  sandbox = await startPlatform({ calculations: 40, datasets: 2, cards: 6, fileSets: 0, dataFiles: 0 });
  await run(sound, ['snapshot', PLACE]);
  sandbox.churn(10);
  await run(sound, ['snapshot', PLACE]);
  refused = await begin();
  stopped = await begin();
  const latest = join(sound, PLACE, 'latest.json');
  const body = await readFile(latest);
  await writeFile(latest, '{');
  await run(sound, ['snapshot', PLACE, '--resume', refused]);
  await writeFile(latest, body);
  sandbox.churn(10);
  const store = createDirectoryStore(sound);
  const { latest: published, manifest } = await readLastPublication(store, PLACE);
  if (published === undefined || manifest === undefined)
    throw new Error('expected a published run, got none');
  last = { ...manifest, key: published.manifest };
}, 60_000);

afterAll(() => sandbox.close());

async function edit(folder: string, key: string, change: (text: string) => string): Promise<void> {
  const path = join(folder, key);
  await writeFile(path, change(await readFile(path, 'utf8')));
}

const latestKey = `${PLACE}/latest.json`;
const firstPart = () => last.parts[0]?.key ?? '';
const remove = (folder: string, key: string) => rm(join(folder, key));
const checkpoint = () => `work/${PLACE}/${stopped}/_checkpoint.json`;
const finished = () => `work/${PLACE}/${refused}/_manifest.json`;
const otherHost = (text: string) =>
  text.replaceAll(/"platform": "[^"]*"/g, '"platform": "other.example.com"');

/** Dates the last run ahead, as if the clock of the machine that published it had been years fast. */
async function dateAhead(folder: string): Promise<void> {
  const ahead = (text: string) =>
    text
      .replaceAll(`dt=${last.startedAt.slice(0, 10)}/run=${last.run}`, `dt=${FUTURE.day}/run=${FUTURE.run}`)
      .replaceAll(last.run, FUTURE.run)
      .replaceAll(last.startedAt, FUTURE.startedAt);
  await edit(folder, latestKey, ahead);
  await edit(folder, last.key, ahead);
  const moved = join(folder, PLACE, `dt=${FUTURE.day}`);
  const dated = join(folder, PLACE, `dt=${last.startedAt.slice(0, 10)}`, `run=${last.run}`);
  await cp(dated, join(moved, `run=${FUTURE.run}`), { recursive: true });
  await rm(dated, { recursive: true });
}

const NEW = ['snapshot', PLACE] as const;
const FORCED = [...NEW, '--force'] as const;
const RESUMED = () => [...NEW, '--resume', refused];

type State = {
  readonly state: string;
  readonly breaks: (folder: string) => Promise<void>;
  /** The documented remedy: a command that ends with a published run. */
  readonly wayOut: () => readonly string[];
};

type StateRow = readonly [state: string, breaks: State['breaks'], wayOut: State['wayOut']];

const stated = (rows: readonly StateRow[]): readonly State[] =>
  rows.map(([state, breaks, wayOut]) => ({ state, breaks, wayOut }));

const states = stated([
  ['`latest.json` is missing', (at) => remove(at, latestKey), () => NEW],
  ['`latest.json` is damaged', (at) => edit(at, latestKey, () => '{'), () => FORCED],
  ['the manifest of the last run is missing', (at) => remove(at, last.key), () => FORCED],
  ['the manifest of the last run is damaged', (at) => edit(at, last.key, () => '{'), () => FORCED],
  ['a part of the last run is missing', (at) => remove(at, firstPart()), () => FORCED],
  ['a part of the last run is cut short', (at) => edit(at, firstPart(), () => 'x'), () => FORCED],
  ['a part of the last run has other bytes', otherBytes, () => FORCED],
  ['the last run is dated in the future', dateAhead, () => NEW],
  ['the last run is of another host', (at) => edit(at, last.key, otherHost), () => FORCED],
  ['the stopped run is of another host', (at) => edit(at, checkpoint(), otherHost), () => NEW],
  ['the checkpoint of the stopped run is missing', (at) => remove(at, checkpoint()), () => NEW],
  ['the checkpoint of the stopped run is damaged', (at) => edit(at, checkpoint(), () => '{'), () => NEW],
  [
    'the stopped run began in the future',
    (at) =>
      edit(at, checkpoint(), (text) =>
        text.replaceAll(/"startedAt": "[^"]*"/g, `"startedAt": "${FUTURE.startedAt}"`),
      ),
    () => [...FORCED, '--resume', stopped],
  ],
  ['the manifest of the refused run is missing', (at) => remove(at, finished()), RESUMED],
  ['the manifest of the refused run is damaged', (at) => edit(at, finished(), () => '{'), RESUMED],
  ['a part of the refused run is missing', withoutRefusedPart, () => NEW],
]);

async function otherBytes(folder: string): Promise<void> {
  const bytes = await readFile(join(folder, firstPart()));
  // Byte 9 of a gzip header is the operating system, which gunzip ignores. Any other byte could fail either gunzip or
  // the hash first.
  bytes[9] = 0x78;
  await writeFile(join(folder, firstPart()), bytes);
}

async function withoutRefusedPart(folder: string): Promise<void> {
  const { parts } = JSON.parse(await readFile(join(folder, finished()), 'utf8')) as Manifest;
  await remove(folder, parts[0]?.key ?? '');
}

const firstParquet = () =>
  `${parquetFolder(PLACE, { id: last.run, startedAt: last.startedAt })}${fileName(0)}`;

const TABLES = ['tables', PLACE] as const;

/** Broken states that only commands that read or write Parquet notice. */
const parquetStates = stated([
  ['a file of Parquet of the last run is missing', (at) => remove(at, firstParquet()), () => TABLES],
  [
    'a file of Parquet of the last run is cut short',
    (at) => edit(at, firstParquet(), () => 'PAR1'),
    () => TABLES,
  ],
]);

const allStates = [...states, ...parquetStates];

const parquetCommands: readonly (() => readonly string[])[] = [
  () => ['query', 'SELECT count(*) FROM calculations'],
  () => TABLES,
  () => NEW,
];

const commands: readonly (() => readonly string[])[] = [
  () => NEW,
  () => FORCED,
  () => [...NEW, '--resume', stopped],
  () => ['publish', PLACE, refused],
  () => ['publish', PLACE, refused, '--force'],
  () => ['runs', PLACE],
  () => ['diff', PLACE],
  () => ['snapshot', 'cards'],
];

/** Output lines that are the same in every state. */
const USUAL =
  /^(?:\w+: [\d,]+ (?:of|records?)\b.*|\w+: (?:resuming )?run .*|consistency: .*|calls: .*|ids from: .*|changes: .*|manifest: .*|SOURCE .*|stopped; .*|calculations {2}.*| {2}\w+: .*|\s*)$/;

type Ended = { readonly code: number; readonly out: string; readonly err: string };

/** The lines about the outcome (of a success only the first), with what differs between runs replaced. */
function messagesIn(folder: string, { code, out, err }: Ended): string {
  const lines = `${err}\n${out}`.split('\n').filter((line) => !USUAL.test(line));
  return (code === 0 ? lines.slice(0, 1) : lines)
    .map((line) => line.trim())
    .join(' · ')
    .replaceAll(folder, 'STORE')
    .replaceAll(new RegExp(`${refused}|${stopped}|${FUTURE.run}`, 'g'), 'RUN')
    .replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{6}/g, 'RUN')
    .replaceAll(/dt=\d{4}-\d\d-\d\d/g, 'dt=DAY')
    .replaceAll(/-[0-9a-f]{12}\./g, '-SHA.')
    .replaceAll(/[0-9a-f]{64}/g, 'SHA256')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/\b\d+ (bytes|changed|added|removed)\b/g, 'N $1');
}

const shownCommand = (argv: readonly string[]) =>
  argv.map((word) => (/^\d{8}T/.test(word) ? 'RUN' : word.includes(' ') ? `"${word}"` : word)).join(' ');

const HEAD = `<!-- generated by test/cli/broken-states.test.ts -->

# Broken states

What each command says if \`latest.json\`, a manifest, a checkpoint or a part is missing, damaged, dated in the future or of another host: its exit code, its messages, and the command that ends in a published run again. In each state, one calculations run was published before the last one, one was finished and refused, and one was stopped: \`publish … RUN\` is of the refused run, \`--resume RUN\` of the stopped one, but where the way out of a damaged refused run names that one. \`snapshot cards\` takes its datasets from the last calculations. A test makes this page (\`test/cli/broken-states.test.ts\`).

No command reads the parts of the last run unless it compares or takes ids from them. So other bytes of the same size are found only then; once they are, they count as a missing part does.

Parquet is made from the parts, so nothing is lost if it is gone: \`query\` reads the parts instead, and \`tables\` writes it again. In Athena, queries fail or lack rows until \`write-tables\` runs in the night. If a Parquet file has other bytes of the same size, \`query\` fails and names it: delete it, and \`tables\` writes it again.`;

let copies = 0;
async function broken({ breaks }: State): Promise<string> {
  copies += 1;
  const folder = join(root, String(copies));
  await cp(sound, folder, { recursive: true });
  await breaks(folder);
  return folder;
}

async function sectionOf(each: State): Promise<string> {
  const rows = new Map<string, string[]>();
  for (const command of parquetStates.includes(each) ? parquetCommands : commands) {
    const folder = await broken(each);
    const ended = await run(folder, command());
    const says = `${ended.code} | ${messagesIn(folder, ended) || '(the list)'}`;
    rows.set(says, [...(rows.get(says) ?? []), `\`${shownCommand(command())}\``]);
  }
  return [
    `## ${each.state[0]?.toUpperCase()}${each.state.slice(1)}`,
    '',
    `Way out: \`${shownCommand(each.wayOut())}\``,
    '',
    '| command | exit | says |',
    '|---|---|---|',
    ...[...rows].map(([says, named]) => `| ${named.join(', ')} | ${says} |`),
  ].join('\n');
}

const PAGE = 'docs/broken-states.md';

test('docs/broken-states.md has the output and the exit code of each command in the sampled states', async () => {
  const page = await readFile(PAGE, 'utf8');
  const [head, ...sections] = page.trimEnd().split(/\n\n(?=## )/);

  expect(head).toBe(HEAD);
  expect(sections).toHaveLength(allStates.length);
  for (const each of sampled(3, allStates)) expect(sections).toContain(await sectionOf(each));
}, 240_000);

test.runIf(isWhole)(`${PAGE} has the sections of all broken states`, { timeout: 600_000 }, async () => {
  const sections: string[] = [];
  for (const each of allStates) sections.push(await sectionOf(each));
  const page = `${HEAD}\n\n${sections.join('\n\n')}\n`;

  expect(page).not.toMatch(/\bat \S+:\d+:\d+|TypeError|SyntaxError/);
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
});

describe('the documented remedy ends with a published run if', () => {
  test.each(sampled(4, states).map((each) => [each.state, each] as const))('%s', async (_state, each) => {
    const folder = await broken(each);

    const { code } = await run(folder, each.wayOut());
    const next = await run(folder, NEW);

    const {
      latest,
      manifest,
      broken: fault,
    } = await readLastPublication(createDirectoryStore(folder), PLACE);
    expect([code, next.code]).toEqual([0, 0]);
    expect(latest?.run).not.toBe(last.run);
    expect(fault).toBeUndefined();
    expect(manifest?.records).toBe([...sandbox.calculations()].length);
  });
});

test.each(sampled(1, parquetStates))(
  'if $state, the remedy restores the tables to what they were',
  async (each) => {
    const folder = await broken(each);
    const made = await readFile(join(sound, firstParquet()));

    const { code } = await run(folder, each.wayOut());
    const again = await run(folder, TABLES);

    expect([code, again.out]).toEqual([0, expect.stringContaining('nothing is missing')]);
    expect(await readFile(join(folder, firstParquet()))).toEqual(made);
  },
);

/** The commands that read manifests, and their exit codes if the parts of one do not add up to its records. */
const READERS: readonly (readonly [argv: readonly string[], code: number])[] = [
  [['runs', PLACE], 3],
  [['runs', '--all', '--json'], 3],
  [['diff', PLACE], 1],
  [['query', 'SELECT count(*) AS rows FROM calculations', '--csv'], 3],
  [['report', '--output', '-'], 1],
  [['where-used', '1'], 1],
  [['tables', PLACE], 3],
  [['prune', PLACE, '--keep', '1', '--yes'], 3],
  [NEW, 3],
  [['snapshot', 'cards'], 1],
];
const wrongCounts = [1, -1].flatMap((many) => READERS.map(([argv, code]) => ({ many, argv, code })));

test.each(sampled(6, wrongCounts))(
  'if a manifest counts $many too many records, $argv fails and gives both numbers',
  async ({ many, argv, code }) => {
    const folder = await broken({
      state: 'the last manifest does not add up',
      breaks: (at) =>
        edit(at, last.key, (text) =>
          text.replace(`"records": ${last.records}`, `"records": ${last.records - many}`),
        ),
      wayOut: () => FORCED,
    });

    const ended = await run(folder, argv);

    expect(ended.code).toBe(code);
    expect(`${ended.err}\n${ended.out}`).toContain(
      `expected parts with ${last.records - many} records together, as the manifest says, got ${last.records}`,
    );
  },
);
