import { expect, test } from 'vitest';
import { startPlatform } from '../../../../lib/sandbox/platform/start-platform.ts';
import { dataFilesScan } from '../../../../lib/snapshot/sources/data-files/scan.ts';
import { caught } from '../../../platform/caught.ts';
import { respondingCall } from '../../responding-call.ts';
import { callOf } from '../../sandbox-call.ts';
import { fromBeginning, scanned } from '../../scanned.ts';

const small = { calculations: 0, datasets: 1, cards: 0, fileSets: 0 };

test('a line of a data file is the whole response, byte for byte', async () => {
  const texts: Record<string, string> = {
    '9': ' {"dataFileId":9,"x": 1.10 }\n',
    '10': '{"dataFileId":"010"}',
    '9007199254740993': '{"name":"n",\n"dataFileId":9007199254740993}',
  };
  const call = respondingCall(({ path }) => texts[String(path?.['dataFileId'])] ?? '');

  const { keys, lines } = await scanned(dataFilesScan({ call, ids: ['9007199254740993', '10', '9', '9'] }));

  expect(keys).toEqual(['9', '10', '9007199254740993']);
  expect(lines).toEqual([
    '{"dataFileId":9,"x": 1.10 }',
    '{"dataFileId":"010"}',
    '{"name":"n", "dataFileId":9007199254740993}',
  ]);
});

test('a response without an id is taken to be the requested data file, and its line gets the id', async () => {
  const texts: Record<string, string> = {
    '7': '{}',
    '8': '{ }',
    '9': '{"name":"n"}',
    '10': '{"dataFileId":null}',
  };
  const call = respondingCall(({ path }) => texts[String(path?.['dataFileId'])] ?? '');

  const { keys, lines } = await scanned(dataFilesScan({ call, ids: ['7', '8', '9', '10'] }));

  expect(keys).toEqual(['7', '8', '9', '10']);
  expect(lines).toEqual([
    '{"dataFileId":7}',
    '{ "dataFileId":8}',
    '{"name":"n","dataFileId":9}',
    '{"dataFileId":null,"dataFileId":10}',
  ]);
});

test('data files that do not exist, or that the token may not read, are missing', async () => {
  await using probe = await startPlatform({ ...small, dataFiles: 5 });
  const [forbidden = ''] = probe.ids().dataFiles;
  await using sandbox = await startPlatform({ ...small, dataFiles: 5, forbidden: [forbidden] });
  const ids = ['1', ...sandbox.ids().dataFiles];

  const { keys, outcome } = await scanned(dataFilesScan({ call: callOf(sandbox), ids }));

  expect(keys).toHaveLength(4);
  expect(outcome.missing).toEqual([
    { id: '1', status: 404 },
    { id: forbidden, status: 403 },
  ]);
});

test.each([
  ['[]', 'expected an object'],
  ['null', 'expected an object'],
  ['{"dataFileId":8}', 'expected 7, got 8'],
])('%s is refused, and the error names the data file', async (text, fault) => {
  const error = await caught(scanned(dataFilesScan({ call: respondingCall(() => text), ids: ['7'] })));

  expect(error.failure).toEqual({ kind: 'shape', faults: [expect.stringContaining(fault)] });
  expect(error.message).toContain('data file 7');
});

test('a scan of data files requests revisions and metadata, and aborts its requests if it stops', async () => {
  const requests: unknown[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const call = respondingCall(({ path, query }, signal) => {
    requests.push(query);
    signals.push(signal);
    return JSON.stringify(path);
  });

  await scanned(dataFilesScan({ call, ids: ['7'] }));
  for await (const _ of dataFilesScan({ call, ids: ['7', '8'] })(fromBeginning)) break;

  const expand = 'revisions,metadata';
  expect(requests).toEqual([{ expand }, { expand }, { expand }]);
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true]);
});
