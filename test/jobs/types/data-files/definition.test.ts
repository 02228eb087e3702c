import { expect, test } from 'vitest';
import { dataFilesRunner } from '../../../../lib/jobs/types/data-files/definition.ts';
import { type Call, PlatformError } from '../../../../lib/platform/index.ts';

/** Reads data files of a platform that responds to each id with its number, or with this status. */
const read = (statuses: Readonly<Record<string, number>>, ids = Object.keys(statuses)) => {
  const raw = async (_: unknown, { path }: { readonly path: { readonly dataFileId: string } }) => {
    const { dataFileId: id } = path;
    const status = statuses[id] ?? 200;
    if (status !== 200)
      throw new PlatformError(
        { kind: 'status', status },
        { operation: 'getDataFile', about: id, attempts: 1 },
      );
    return { text: ` {"dataFileId":${id}} `, json: { dataFileId: Number(id) } };
  };
  const job = { version: 1, type: 'data-files', id: 'job-1', ids } as const;
  const signal = new AbortController().signal;
  return dataFilesRunner({ raw } as unknown as Call)(job, {
    signal,
    beforeSend: async () => {},
    onLeave() {},
  });
};

test('files that are gone, or not to be seen, are missing; the others are as they came', async () => {
  const outcome = await read({ 1: 200, 2: 404, 3: 403 });

  expect(outcome).toEqual({
    status: 'done',
    response: '{"files":[{"dataFileId":1}],"missing":[{"id":"2","status":404},{"id":"3","status":403}]}',
  });
});

test('any other refusal ends the attempt', async () => {
  await expect(read({ 1: 200, 2: 400 })).rejects.toThrow('400');
});
