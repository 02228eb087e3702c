import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
const sandbox = await startPlatform({
  calculations: 0,
  datasets: 0,
  cards: 0,
  fileSets: 0,
  dataFiles: 0,
});

afterAll(() => sandbox.close());

const GOOD = 'The support team was wonderful!';
const BAD = 'The delivery was terrible and awful.';

const score = (file: string, ...more: readonly string[]) =>
  runCommand(['score', join(folder.path, file), '--text', 'text', ...more], {
    ...settingsOf(sandbox, join(folder.path, 'store')),
    LOG_LEVEL: 'silent',
  });

async function write(name: string, ...rows: readonly string[]): Promise<void> {
  await writeFile(join(folder.path, name), `${rows.join('\n')}\n`);
}

const LABELLED = [
  'text,rating,other',
  `${GOOD},Positive,positive`,
  `${GOOD},POSITIVE,negative`,
  `${BAD},negative ,negative`,
  `${BAD},positive,negative`,
  `${GOOD},,positive`,
  `${GOOD},posi,positive`,
  ',neutral,positive',
];

test('labels in upper or lower case are compared with the scores: the output has the agreement, the confusions, and the skipped rows', async () => {
  await write('a.csv', ...LABELLED);

  const words = await score('a.csv', '--label', 'rating', '--batch', 'a');
  const json = await score('a.csv', '--label', 'rating', '--batch', 'a', '--json');

  expect(words.out).toContain(
    '\nlabels in rating: 3 of 4 agree (75%); 1 row without a label; 1 row without a score; 1 row with another label: "posi"\n',
  );
  expect(words.out).toMatch(/\nLABEL +negative +positive\npositive +1 +2\nnegative +1 +0(\n|$)/);
  expect(JSON.parse(json.out).labels).toEqual({
    column: 'rating',
    topic: null,
    compared: 4,
    agreed: 3,
    withoutLabel: 1,
    withoutScore: 1,
    otherLabel: 1,
    otherLabels: ['posi'],
    confusion: { positive: { positive: 2, negative: 1 }, negative: { negative: 1 } },
  });
});

test('a resumed batch may take labels from another column, and no text is paid for again', async () => {
  await write('a.csv', ...LABELLED);

  await score('a.csv', '--label', 'rating', '--batch', 'b');
  const before = sandbox.counts();
  const other = await score('a.csv', '--label', 'other', '--batch', 'b', '--json');

  expect(JSON.parse(other.out).labels).toMatchObject({ column: 'other', compared: 6, agreed: 5 });
  expect(sandbox.counts()).toEqual(before);
});

test('labels of one topic are compared with its sentiments, also if some objects have no label', async () => {
  const row = (text: string, label?: unknown) => JSON.stringify({ text, label });
  await write(
    'a.ndjson',
    row(GOOD, 'positive'),
    row(BAD, 'Not applicable'),
    row(BAD, 'negative'),
    row(GOOD),
    row(GOOD, null),
    row(GOOD, 7),
  );

  const { out } = await score('a.ndjson', '--label', 'label', '--topic', 'support', '--json');

  expect(JSON.parse(out).labels).toEqual({
    column: 'label',
    topic: 'support',
    compared: 3,
    agreed: 2,
    withoutLabel: 2,
    withoutScore: 0,
    otherLabel: 1,
    otherLabels: ['7'],
    confusion: {
      positive: { positive: 1 },
      not_applicable: { not_applicable: 1 },
      negative: { not_applicable: 1 },
    },
  });
});

test('labels of several topics, or in a missing column, exit 2 before anything is paid', async () => {
  await write('a.csv', ...LABELLED);
  const before = sandbox.counts();

  const several = await score('a.csv', '--label', 'rating', '--topic', 'support', '--topic', 'delivery');
  const missing = await score('a.csv', '--label', 'stars');
  const dry = await score('a.csv', '--label', 'stars', '--dry-run');

  expect([several.code, missing.code, dry.code]).toEqual([2, 2, 2]);
  expect(several.err).toContain(
    '--label rating: the labels belong to one topic, so expected at most one --topic, got support, delivery',
  );
  expect(missing.err).toContain('stars');
  expect(sandbox.counts()).toEqual(before);
});

test('the command that resumes a batch includes the label', async () => {
  await write('a.csv', ...LABELLED);

  const { err } = await score('a.csv', '--label', 'rating', '--batch', 'c');

  expect(err).toContain('--label rating');
});
