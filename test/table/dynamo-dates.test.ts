import { expect, test } from 'vitest';
import { type DateSeen, openTable } from '../../lib/table/open-table.ts';
import { environmentOf, jsonError, jsonReply } from '../base/aws/replies.ts';
import { type Reply, startServer } from '../platform/scripted-server.ts';

const key = { partition: 'job#a', sort: '-' };
const date = 'Sat, 21 Nov 2026 09:00:00 GMT';

/** The dates that are reported for the second of two responses. */
async function datesSeen(reply: Reply) {
  await using server = await startServer(jsonReply({}, 200, { date }), reply);
  const { table, onDate } = await openTable('jobs', environmentOf(server), { attempts: 1 });
  const seen: DateSeen[] = [];
  await table.get(key);
  const beforeMs = Date.now();
  onDate?.((each) => seen.push(each));
  await table.get(key).catch(() => undefined);
  const isTimely = seen.every(({ sentMs, receivedMs }) => beforeMs <= sentMs && sentMs <= receivedMs);
  return { dates: seen.map(({ dateMs }) => dateMs), isTimely };
}

test('the dates of responses and of refusals are reported, with the times of the requests', async () => {
  const expected = { dates: [Date.parse(date)], isTimely: true };

  expect(await datesSeen(jsonReply({}, 200, { date }))).toEqual(expected);
  const { dates } = await datesSeen(jsonError('AccessDeniedException'));
  expect(dates).not.toEqual([]);
});

test('a date that is invalid, or from a cache (with an Age header), is not reported', async () => {
  expect((await datesSeen(jsonReply({}, 200, { date: 'soon' }))).dates).toEqual([]);
  expect((await datesSeen(jsonReply({}, 200, { date, age: '7' }))).dates).toEqual([]);
});
