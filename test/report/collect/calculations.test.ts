import fc from 'fast-check';
import { expect, test } from 'vitest';
import { calculationFlags } from '../../../lib/report/facts.ts';
import { scaled } from '../../scale.ts';
import { collect, given, storeOf } from './collect.ts';

test('the hundred calculations whose last change is longest ago are flagged as oldest', async () => {
  const records = Array.from({ length: 150 }, (_, at) => ({ id: at, lastModified: 1_700_000_000_000 - at }));
  const store = await storeOf({
    calculations: [...records, { id: 200 }, { id: 201, lastModified: 'never' }],
  });

  const { calculations } = await collect(store);

  const { id = [], flags = [] } = calculations?.list.columns ?? {};
  const oldest = id.filter((_, at) => ((flags[at] ?? 0) & calculationFlags.oldest) !== 0);
  expect(oldest).toEqual(Array.from({ length: 100 }, (_, at) => String(50 + at)));
});

const small = fc.integer({ min: 1, max: 12 });
const anyLink = fc.record(
  {
    resource: fc.record({
      type: fc.constantFrom('CARD', 'DATA_SOURCE', 'FUNCTION_TEMPLATE', 'card', 'PAGE', 7),
      id: fc.oneof(
        small.map(String),
        small.map((id) => `${id}:7`),
        fc.constant(null),
      ),
    }),
    valid: fc.constantFrom('VALID', 'valid', 'ILLEGAL_REFERENCE', 'odd', null, 3),
  },
  { requiredKeys: [] },
);
/** A calculation, valid in most cases. */
const anyCalculation = fc.record(
  {
    name: fc.constantFrom('Revenue', 'Margin', '', null, 7),
    owner: fc.oneof(small, fc.constantFrom('9007199254740993', null)),
    status: fc.constantFrom('VALID', 'valid', 'INVALID', null, {}),
    links: fc.oneof(fc.array(anyLink, { maxLength: 4 }), fc.constantFrom(null, 'none')),
    lastModified: fc.oneof(
      fc.integer({ min: 0, max: 2 ** 41 }),
      fc.constantFrom('2026-11-02T00:00:00Z', 'x', null),
    ),
    created: fc.constantFrom(1, '2020-01-01T00:00:00.000Z', null),
    locked: fc.constantFrom(true, false, null, 'x'),
    hidden: fc.boolean(),
    global: fc.boolean(),
    archived: fc.boolean(),
    activeLinks: fc.constantFrom(null, {}, { CARD: ['3'] }, { FUNCTION_TEMPLATE: ['5'] }, 'x'),
  },
  { requiredKeys: [] },
);

test('a shortened list of calculations has the same counts as a complete one, and includes every flagged calculation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCalculation, { maxLength: 40 }), async (records) => {
      const store = await storeOf({
        calculations: records.map((record, at) => ({ id: at + 1, ...record })),
        cards: [
          { id: 3, datasourceId: '1' },
          { id: 4, datasourceId: '2' },
        ],
      });

      const [whole, cut] = [await collect(store), await collect(store, { whole: 4, top: 2 })];

      const { list, ...counts } = given(whole.calculations);
      const { list: top, ...same } = given(cut.calculations);
      expect(same).toEqual(counts);
      expect(list.columns.id).toHaveLength(records.length);
      if (records.length <= 4) {
        expect(top).toEqual(list);
        return;
      }
      const flagsOf = new Map(list.columns.id.map((id, at) => [id, list.columns.flags[at] ?? 0]));
      expect(top.columns.flags).toEqual(top.columns.id.map((id) => flagsOf.get(id)));
      for (const [name, flag] of Object.entries(calculationFlags)) {
        const all = list.columns.id.filter((id) => ((flagsOf.get(id) ?? 0) & flag) !== 0);
        expect(all).toHaveLength(counts.flags[name as keyof typeof calculationFlags]);
        if (name !== 'global' && name !== 'hidden')
          expect(top.columns.id).toEqual(expect.arrayContaining(all.slice(0, 2)));
      }
    }),
    { numRuns: scaled(25, 200) },
  );
});
