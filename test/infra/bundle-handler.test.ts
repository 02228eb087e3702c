import { expect, test } from 'vitest';
import { bundleHandler } from '../../infra/bundle-handler.ts';

test('a bundle contains only the files that its function uses, although it imports whole rooms', async () => {
  const { metafile, outputFiles } = await bundleHandler('functions/move-jobs/handler.ts');
  const inBundle = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  );

  expect(inBundle).toContain('lib/jobs/redrive.ts');
  expect(inBundle.filter((file) => /duckdb|^lib\/(?:report|sandbox|cli)\//.test(file))).toEqual([]);
  // An import that no pass has resolved would only fail when it is used.
  expect(outputFiles.filter(({ text }) => text.includes('pending:'))).toEqual([]);
});
