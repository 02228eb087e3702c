import { expect, test } from 'vitest';
import { cardsScan } from '../../../../lib/snapshot/sources/cards/scan.ts';
import { caught } from '../../../platform/caught.ts';
import { respondingCall, scriptedCall } from '../../responding-call.ts';
import { fromBeginning, scanned } from '../../scanned.ts';

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

test('a response of null is a list without cards', async () => {
  expect((await scanned(scanOf('null'))).keys).toEqual([]);
});

test('a scan of cards aborts its requests if the caller stops', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const call = respondingCall((_input, signal) => {
    signals.push(signal);
    return '[]';
  });

  for await (const _ of cardsScan({ call, datasetIds: ['a', 'b'], drill: true })(fromBeginning)) break;

  expect(new Set(signals.map((signal) => signal?.aborted))).toEqual(new Set([true]));
});

test('a scan of cards requests each dataset once, with the given drill option', async () => {
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

test('a drill inside a card is a separate card, once; its own row takes precedence, and drills nest', async () => {
  const text = JSON.stringify([
    {
      ...{ id: 10, datasourceId: 'd1' },
      drills: [
        {
          id: 14,
          urn: 'dr:14:10',
          title: 'By rep',
          datasetId: 'd2',
          drills: [{ urn: 'dr:13:14', title: 'By day' }],
        },
        { id: '12', urn: 'dr:12:10', title: 'Inside' },
      ],
    },
    { id: 12, urn: 'dr:12:10', title: 'A row', datasourceId: 'd1' },
    { id: 11, datasourceId: 'd1', drills: [{ id: 14, title: 'Again' }, null, 7, { title: 'Unnamed' }, []] },
    { id: 9, datasourceId: 'd1', drills: { id: 99 } },
  ]);

  const { keys, lines } = await scanned(scanOf(text));

  const records = lines.map((line) => JSON.parse(line));
  expect(keys).toEqual(['d1/9', 'd1/10', 'd1/11', 'd1/12', 'd1/13', 'd1/14']);
  expect(records.map(({ id }) => id)).toEqual([9, 10, 11, 12, 13, 14]);
  expect(records.map(({ title }) => title)).toEqual([
    undefined,
    undefined,
    undefined,
    'A row',
    'By day',
    'By rep',
  ]);
  expect(records[5]).toMatchObject({ _datasetId: 'd1', datasetId: 'd2', urn: 'dr:14:10' });
  // The card keeps its drills as the platform sent them.
  expect(records[2].drills).toHaveLength(5);
});

test('without drills, those inside a card stay only in its record', async () => {
  const text = JSON.stringify([{ id: 10, datasourceId: 'd1', drills: [{ id: 12, urn: 'dr:12:10' }] }]);
  const { call } = scriptedCall([text]);

  const { keys, lines } = await scanned(cardsScan({ call, datasetIds: ['d1'], drill: false }));

  expect([keys, lines]).toEqual([['d1/10'], [text.slice(1, -1)]]);
});
