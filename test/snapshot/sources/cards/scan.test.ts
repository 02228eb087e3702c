import { expect, test } from 'vitest';
import { cardsScan } from '../../../../lib/snapshot/sources/cards/scan.ts';
import { caught } from '../../../platform/caught.ts';
import { respondingCall, scriptedCall } from '../../responding-call.ts';
import { scanned } from '../../scanned.ts';

const scanOf = (text: string) =>
  cardsScan({ call: scriptedCall([text]).call, datasetIds: ['d1'], drill: true });

test('cards are written in the order of their ids as integers of any size, byte for byte, each once', async () => {
  const text =
    ' [ {"id":9007199254740993,"datasourceId":"d1","x":1.10},{"id":"20","datasourceId":"d1"},' +
    '{"id":3, "datasourceId":"d1"},\n{"id":9007199254740992,"datasourceId":"d1"},{"id":20,"datasourceId":"d1"}]\n';

  const { keys, lines } = await scanned(scanOf(text));

  expect(keys).toEqual(['d1/3', 'd1/20', 'd1/9007199254740992', 'd1/9007199254740993']);
  expect(lines).toEqual([
    '{"id":3, "datasourceId":"d1"}',
    '{"id":"20","datasourceId":"d1"}',
    '{"id":9007199254740992,"datasourceId":"d1"}',
    '{"id":9007199254740993,"datasourceId":"d1","x":1.10}',
  ]);
});

test.each([
  ['[{"title":"Sales"},{}]', 'card 0 (“Sales”)'],
  ['[7]', 'card 0'],
  ['[{"id":1.5}]', 'card 0'],
  ['{"cards":[]}', 'expected an array of cards'],
])('%s is refused, and the error names the dataset', async (text, fault) => {
  const error = await caught(scanned(scanOf(text)));

  expect(error.failure).toEqual({ kind: 'shape', faults: [expect.stringContaining(fault)] });
  expect(error.message).toContain('cards of dataset d1');
});

test('requests each dataset once, with the drill option as given', async () => {
  const requested: unknown[] = [];
  const call = respondingCall(({ path, query }) => {
    requested.push([path?.['datasetId'], query?.['drill']]);
    return '[]';
  });

  await scanned(cardsScan({ call, datasetIds: ['b', 'a', 'b'], drill: false }));

  expect(requested).toEqual([
    ['a', false],
    ['b', false],
  ]);
});
