import { expect, test } from 'vitest';
import { rowJobs } from '../../../lib/jobs/file/row-jobs.ts';
import { readTemplate } from '../../../lib/jobs/file/template.ts';

const NAMES = ['order', 'price'];

async function jobsOf(rows: readonly string[], { file = 'orders.csv', json = {} as object } = {}) {
  const template = readTemplate({ type: 'x', n: '{{order}}', p: '{{price:number}}', ...json }, NAMES);
  if ('faults' in template) throw new Error(template.faults.join());
  async function* lines() {
    for (const [at, row] of rows.entries()) yield { line: at + 2, fields: row.split(',') };
  }
  const made = await Array.fromAsync(rowJobs(lines(), { file, names: NAMES, template }));
  return made.map((job) => ('text' in job ? JSON.parse(job.text) : job));
}

const idsOf = async (...given: Parameters<typeof jobsOf>) => (await jobsOf(...given)).map(({ id }) => id);

test('a row becomes a message, with an id of its file and its content', async () => {
  const [job] = await jobsOf(['7,1.5'], { file: '/data/My orders (2).csv.gz' });

  expect(job).toEqual({
    version: 1,
    type: 'x',
    n: '7',
    p: 1.5,
    id: expect.stringMatching(/^My-orders-2-\.[0-9a-f]{32}$/),
  });
});

test('ids stay when rows are added, removed or sorted, and the file is elsewhere; equal rows are counted', async () => {
  const [a, b, c, again] = await idsOf(['1,1', '2,2', '3,3', '1,1']);

  expect(again).toBe(`${a}.2`);
  expect(await idsOf(['3,3', '1,1', '9,9', '1,1'], { file: '/elsewhere/orders.csv' })).toEqual([
    c,
    a,
    expect.not.stringContaining(String(b)),
    again,
  ]);
});

test('another file, another content, another template: another id', async () => {
  const ids = await Promise.all([
    idsOf(['1,1']),
    idsOf(['1,1'], { file: 'other.csv' }),
    idsOf(['1,2']),
    idsOf(['1,1'], { json: { more: 1 } }),
  ]);

  expect(new Set(ids.flat()).size).toBe(4);
});

test('an id of the template counts, and a row that cannot be filled is named by its line', async () => {
  const made = await jobsOf(['1,1', '2,x'], { json: { id: 'order-{{order}}' } });

  expect(made).toEqual([
    expect.objectContaining({ id: 'order-1' }),
    { line: 3, faults: ['column price: expected a number, got "x"'] },
  ]);
});
