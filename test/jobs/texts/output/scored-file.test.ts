import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { scoreFile } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { writeScoredFile } from '../../../../lib/jobs/texts/output/scored-file.ts';
import { createInput } from '../../../../lib/jobs/texts/rows/read-rows.ts';
import { outputFormat } from '../../../../lib/text/index.ts';
import { folderOfEach } from '../../../folder-of-each.ts';
import { batchOf, world } from '../batch/batch-suite.ts';
import { inPieces } from '../bytes-of.ts';
import { refusedText, scriptedAnalyze } from '../fakes.ts';

const folder = folderOfEach();

type Plan = Partial<Parameters<typeof createInput>[1]> & {
  readonly topics?: readonly string[];
  readonly changedTo?: string;
};

/** Scores a source, and writes the scored file. `changedTo`: the source when it is read again for the output. */
async function scored(source: string, name: string, { topics = [], changedTo = source, ...more }: Plan = {}) {
  const rows = { text: 'text', ...more };
  const one = world({}, scriptedAnalyze({ refused: [refusedText] }));
  const input = createInput(() => inPieces(Buffer.from(source), 100), rows);
  const request = {
    rows: input.rows,
    input: input.found,
    request: { topics: topics.map((topic) => ({ topic })) },
  };
  const done = await scoreFile(batchOf([], request), { ...one.split, ...one.scoring });
  if (done.kind !== 'scored') throw new Error('refused');
  const file = join(folder.path, name);
  const format = outputFormat(name);
  if (format === undefined) throw new Error('no format');
  const open = () => inPieces(Buffer.from(changedTo), 100);
  const options = { file, format, open, rows, topics, store: one.store };
  const { rows: count } = await writeScoredFile(done.summary, options);
  const body = await readFile(file);
  return { count, text: (format.isGzipped ? gunzipSync(body) : body).toString() };
}

const REVIEWS = `\uFEFFid;text;sentiment
007;"good; ""fast""";old
8;"line
break";
9;refused;x
10; ;y
11;a;b;c
"12" x;bad
13;good;
`;

test('a scored CSV has additional columns, in its own format, and bad and refused rows have their reasons', async () => {
  const { count, text } = await scored(REVIEWS, 'scored.csv', { id: 'id' });

  expect(count).toBe(7);
  expect(text.split('\n').map((line) => line.replace(/acme\S+/, 'HOST'))).toEqual([
    '\uFEFFid;text;sentiment;sentiment_2;model;error',
    '007;"good; ""fast""";old;positive;m1;',
    '8;"line',
    'break";;negative;m1;',
    expect.stringMatching(/^9;refused;x;;;line 5: .*400/),
    '10;" ";y;;;line 6: text: expected text, got an empty value',
    '11;a;b;;;line 7: the row: expected 3 fields, got 4: check that texts that contain a separator are in quotes',
    expect.stringMatching(/^;;;;;line 8: a broken quote/),
    '13;good;;positive;m1;',
    '',
  ]);
});

test('a scored file includes skipped rows, without a score', async () => {
  const { text } = await scored('text,n\ngood,1\n,2\nbad,3\n', 'scored.csv', { skipEmpty: true });

  expect(text).toBe('text,n,sentiment,model,error\ngood,1,positive,m1,\n,2,,,\nbad,3,negative,m1,\n');
});

test('a scored CSV has a column for each topic', async () => {
  const { text } = await scored('text\ngood\n', 'scored.tsv', { topics: ['price', 'service'] });

  expect(text).toBe(
    'text\tsentiment\tsentiment_price\tsentiment_service\tmodel\terror\ngood\t\tpositive\tpositive\tm1\t\n',
  );
});

test('the objects of a scored NDJSON file are unchanged, except that each has one more member, with its score', async () => {
  const source =
    '{"id":12345678901234567890,"text":"good","score":1.50}\nnone\n{ "text" : "bad" , "a":[1, 2] }\n{}\n';

  const { text } = await scored(source, 'scored.ndjson.gz', { format: 'ndjson' });

  expect(text.trimEnd().split('\n')).toEqual([
    '{"id":12345678901234567890,"text":"good","score":1.50,"score_2":{"line":1,"sentiment":"positive","model":"m1"}}',
    '{"score_2":{"line":2,"error":"line 2: the line: expected a JSON object, got invalid JSON"}}',
    '{ "text" : "bad" , "a":[1, 2],"score_2":{"line":3,"sentiment":"negative","model":"m1"}}',
    '{"score_2":{"line":4,"error":"line 4: text: expected a field of this name in the row, got none"}}',
  ]);
});

test('a CSV can be written as NDJSON, and a JSON array as CSV', async () => {
  const toNdjson = await scored('2,text\n1,good\n', 'scored.jsonl');
  const toCsv = await scored(
    '[{"text":"good","n":12345678901234567890,\n"o":{"a":null}},{"z":null,"text":"bad"}]',
    'scored.csv',
  );

  expect(toNdjson.text).toBe(
    '{"2":"1","text":"good","score":{"line":2,"sentiment":"positive","model":"m1"}}\n',
  );
  expect(toCsv.text).toBe(
    'text,n,o,z,sentiment,model,error\r\ngood,12345678901234567890,"{""a"":null}",,positive,m1,\r\nbad,,,,negative,m1,\r\n',
  );
});

test.each([
  [
    'another text',
    'id,text\n1,good\n2,worse\n',
    'line 3: the file has changed since it was scored: expected the row that was scored, got another text',
  ],
  ['another id', 'id,text\n1,good\n3,bad\n', 'got another id'],
  ['no id', 'id,text\n1,good\n,bad\n', 'got another id'],
  [
    'one more row',
    'id,text\n1,good\n2,bad\n3,x\n',
    'line 4: the file has changed since it was scored: expected the row that was scored, got a row after the last row',
  ],
  [
    'one row fewer',
    'id,text\n1,good\n',
    'line 3: the file has changed since it was scored: expected the row that was scored, got no such row',
  ],
  [
    'one more line',
    'id,text\n1,good\n\n2,bad\n',
    'line 3: the file has changed since it was scored: expected the row that was scored, got a row on line 4',
  ],
])(
  'a source with %s is not joined with the scores of the old one, and the old output stays',
  async (_, changedTo, error) => {
    await writeFile(join(folder.path, 'scored.csv'), 'old');

    await expect(scored('id,text\n1,good\n2,bad\n', 'scored.csv', { id: 'id', changedTo })).rejects.toThrow(
      error,
    );

    expect(await readFile(join(folder.path, 'scored.csv'), 'utf8')).toBe('old');
    expect(await readdir(folder.path)).toEqual(['scored.csv']);
  },
);

test('a file that cannot be written is named', async () => {
  await expect(scored('text\ngood\n', 'none/scored.csv')).rejects.toThrow(
    /none\/scored\.csv: expected a file that can be written, got no such file or directory$/,
  );
});

test('many rows are joined with many parts', async () => {
  const lines = Array.from({ length: 2_500 }, (_, at) => `${at},${at % 3 === 0 ? 'good' : 'bad'} ${at % 7}`);

  const { count, text } = await scored(`id,text\n${lines.join('\n')}\n`, 'scored.csv', { id: 'id' });

  expect(count).toBe(2_500);
  expect(text.trimEnd().split('\n').slice(1)).toEqual(
    lines.map((line) => `${line},${line.includes('good') ? 'positive' : 'negative'},m1,`),
  );
});
