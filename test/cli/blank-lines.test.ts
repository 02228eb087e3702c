import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { adds, startJobs } from './start-jobs.ts';

test('run, submit, score and formula apply skip and count lines whose cells are all empty', async () => {
  await using jobs = await startJobs();
  const { id: _, ...sum } = adds('', '{{n:number?}}');
  const at = (name: string) => join(jobs.folder, name);
  await writeFile(at('rows.csv'), 'n;text;note\n1;one;\n;;\n ; ;\n2;two;\n;;\n');
  await writeFile(at('formulas.csv'), 'id;expression;was\n;;\n1;1;2\n;;\n; ;\n');
  await writeFile(at('job.json'), JSON.stringify(sum));
  const fromRows = ['--from-csv', at('rows.csv'), '--template', at('job.json')];
  const json = async (...argv: readonly string[]) => {
    const { out, err } = await jobs.run([...argv, '--json']);
    return { ...JSON.parse(out), err };
  };
  const inRows = { blank: 3, err: expect.stringContaining(`${at('rows.csv')}: 3 blank lines skipped`) };

  expect(await json('run', ...fromRows, '--dry-run')).toMatchObject({ rows: 2, ...inRows });
  expect(await json('run', ...fromRows)).toMatchObject({ rows: 2, done: 2, ...inRows });
  expect(await json('submit', ...fromRows, '--dry-run')).toMatchObject({ ids: { length: 2 }, ...inRows });
  expect(await json('submit', ...fromRows)).toMatchObject({ sent: 2, ...inRows });
  const score = ['score', at('rows.csv'), '--text', 'text', '--batch', 'b'];
  expect(await json(...score, '--dry-run')).toMatchObject({ rows: 2, bad: 0, input: { blank: 3 } });
  expect((await jobs.run(score)).err).toContain('separated by ";"; 3 blank lines skipped');
  expect(await json('formula', 'apply', at('formulas.csv'), '--name', 'f', '--dry-run')).toMatchObject({
    rows: { length: 1 },
    blank: 3,
    err: expect.stringContaining(`${at('formulas.csv')}: 3 blank lines skipped`),
  });
  expect(jobs.sandbox.counts().executions).toHaveLength(2);
});
