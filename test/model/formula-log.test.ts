import { expect, test } from 'vitest';
import { findFormula, formulaKeys, storeFormula } from '../../lib/model/formulas/formula-log.ts';
import { createMemoryStore } from '../store/memory-store.ts';

test('a logged formula is found by its key, with its id and its time; objects with other keys are ignored', async () => {
  const store = createMemoryStore();
  const finishedAtMs = Date.parse('2026-11-21T09:15:00.123Z');
  const key = await storeFormula(store, { calculationId: '7', finishedAtMs, response: '{"id":"x"}' });
  for (const other of [
    'formulas/7/notes.json',
    'formulas/readme.txt',
    'formulas/7/20261121T091500123Z.json.bak',
  ])
    await store.put(other, Buffer.from('{}'));

  const { signal } = new AbortController();

  expect(await Array.fromAsync(formulaKeys(store, signal))).toEqual([{ key, id: '7', at: finishedAtMs }]);
  expect(await findFormula(store, key)).toEqual({
    key,
    time: '20261121T091500123Z',
    calculation: { id: '7' },
  });
  expect(await findFormula(store, 'formulas/8/20261121T091500123Z.json')).toBeUndefined();
});
