import { expect, test } from 'vitest';
import { renewModel } from '../../../lib/model/index.ts';
import type { Run } from '../../../lib/snapshot/keys.ts';
import { link } from '../../model/stores.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { collect, given } from './collect.ts';

const store = createMemoryStore();
const unused = { id: 1 };
const broken = { id: 2, links: [link('DATA_SOURCE', 'd', { valid: 'GONE' })] };
const used = { id: 3, status: 'INVALID', links: [link('CARD', '9')] };

const publish = (run: Run, ...records: readonly object[]) =>
  publishLines(store, { run, lines: records.map((record) => JSON.stringify(record)) });

test('the report has the time since which each calculation is broken or unused, and the state of each day', async () => {
  await publish(monday, unused, { id: 2 });
  await renewModel({ store, now: Date.now });
  await publish(tuesday, unused, broken, used);

  const { calculations, days } = await collect(store);

  const { id, brokenSince, unusedSince } = given(calculations).list.columns;
  const since = id.map((each, row) => [each, unusedSince[row], brokenSince[row]]);
  const at = ({ startedAt }: Run) => Date.parse(startedAt);
  expect(since).toEqual([
    ['1', at(monday), null],
    ['2', at(monday), at(tuesday)],
    ['3', null, at(tuesday)],
  ]);
  expect(
    days.map(({ day, unused: all, broken_links, invalid }) => [day, all, broken_links, invalid]),
  ).toEqual([
    ['2026-11-16', 2, 0, 0],
    ['2026-11-17', 2, 1, 1],
  ]);
});
