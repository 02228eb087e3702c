import { describe, expect, test } from 'vitest';
import { cardsIn } from '../../../../lib/snapshot/sources/cards/cards-in.ts';
import { recordsIn } from '../../batches.ts';

const keysIn = (text: string) => recordsIn(cardsIn(Buffer.from(text), 'd')).keys;
const list = (...ids: readonly number[]) => JSON.stringify(ids.map((id) => ({ id })));

describe('the cards', () => {
  test.each([
    [list(), []],
    [list(7), ['d/7']],
    [list(1, 2, 3), ['d/1', 'd/2', 'd/3']],
    [list(1, 3, 2), ['d/1', 'd/2', 'd/3']],
    [list(2, 1), ['d/1', 'd/2']],
    [list(2, 2), ['d/2']],
    [list(3, 1, 3, 1, 2), ['d/1', 'd/2', 'd/3']],
  ])('of %s are in the order of their ids, each once', (text, keys) => {
    expect(keysIn(text)).toEqual(keys);
  });

  test('are as they came, byte for byte, if they came in that order', () => {
    const { keys, lines } = recordsIn(cardsIn(Buffer.from('[{"id":1,"datasourceId":"d"} , {"id":2}]'), 'd'));

    expect(keys).toEqual(['d/1', 'd/2']);
    expect(lines).toEqual(['{"id":1,"datasourceId":"d"}', '{"_datasetId":"d","id":2}']);
  });

  test('of equal ids are the one that came first', () => {
    const text = '[{"id":5,"n":1},{"id":4},{"id":5,"n":2},{"id":"5","n":3}]';

    expect(recordsIn(cardsIn(Buffer.from(text), 'd')).lines).toEqual([
      '{"_datasetId":"d","id":4}',
      '{"_datasetId":"d","id":5,"n":1}',
    ]);
  });
});

test.each([
  ['{"id":1}', 'the response: expected an array of cards'],
  ['[{"id":1},7]', 'card 1: expected an object with an integer of at most 64 digits as its id'],
  [
    '[{"title":"Sales"}]',
    'card 0 (“Sales”): expected an object with an integer of at most 64 digits as its id',
  ],
])('%s is no list of cards', (text, fault) => {
  expect(() => keysIn(text)).toThrow(new Error(fault));
});
