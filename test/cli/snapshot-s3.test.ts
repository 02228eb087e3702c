import { expect, test } from 'vitest';
import { startS3Commands } from './start-s3-commands.ts';

test('snapshots are taken, listed, compared, published and queried in a bucket', async () => {
  await using commands = await startS3Commands({ calculations: 250, dataFiles: 3 });
  const [known = '', another = ''] = commands.sandbox.ids().dataFiles;
  const take = async (...argv: readonly string[]) => {
    const { code, out } = await commands.run('snapshot', ...argv, '--json');
    return { code, ...JSON.parse(out) };
  };

  const calculations = await take('calculations');
  const first = await take('data-files', '--id', known);
  const second = await take('data-files', '--id', known, '--id', another, '--force');
  const refused = await take('data-files', '--id', '7', '--as', 'none');
  const published = await commands.run('publish', 'data-files.none', refused.run, '--force');
  const diff = await commands.run('diff', 'data-files', first.run, second.run, '--json');
  const listed = await commands.run('runs', 'data-files', '--json');
  const asked = await commands.run(
    'query',
    'SELECT (SELECT count(*) FROM calculations), (SELECT count(*) FROM all_data_files), count(*) FROM runs',
    '--csv',
  );

  const runsOf = ({ out }: { readonly out: string }) =>
    JSON.parse(out).map(({ run }: { readonly run: string }) => run);
  expect(calculations).toMatchObject({ code: 0, records: 250, consistency: 'proved' });
  expect([first.code, second.code, refused.code]).toEqual([0, 0, 3]);
  expect([published.code, diff.code]).toEqual([0, 0]);
  expect(asked.out.split('\r\n')[1]).toBe('250,3,4\r');
  expect(JSON.parse(diff.out)).toMatchObject({ added: 1, removed: 0 });
  // Two runs of the same second may be listed in either order.
  expect(runsOf(listed).toSorted()).toEqual([second.run, first.run].toSorted());
});
