import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { scaled } from '../scale.ts';
import { DEPLOYED_TIMEOUT_MS, startDeployedWorker } from './deployed-worker.ts';

/** The number of texts: at least three chunks of 100. */
const TEXTS = scaled(250, 5_000);
/** One row in three repeats the text of another row. */
const DISTINCT = Math.ceil((TEXTS * 2) / 3);
const WORDS = ['wonderful', 'terrible', 'late', 'great', 'awful', 'fine', 'broken', 'lovely'];

const textAt = (index: number) =>
  `The delivery ${index} was ${WORDS[index % WORDS.length]}. The price, however, "${WORDS[(index * 7) % 5]}"`;

test(`the inbox, the queue and the worker pay for each of ${TEXTS} texts once, and the summary is right`, {
  timeout: Math.max(DEPLOYED_TIMEOUT_MS, TEXTS * 20),
}, async () => {
  await using platform = await startPlatform({ calculations: 0, rate: 100_000 });
  await using deployed = await startDeployedWorker(platform);
  const rows = Array.from({ length: TEXTS }, (_, row) => textAt(row % DISTINCT));
  const csv = rows.map(
    (text, row) => `u-${row};${row % 2 === 0 ? 'mail' : 'chat'};"${text.replaceAll('"', '""')}"`,
  );
  // Two bad rows: one with an empty text, and one with a missing field.
  const lines = ['user;channel;text', ...csv, 'u-x;mail;', 'u-y;mail'];
  await deployed.store.put('texts/may.csv.gz', gzipSync(lines.join('\r\n')));
  const request = {
    object: 'texts/may.csv.gz',
    text: 'text',
    id: 'user',
    columns: ['channel'],
    topics: [{ topic: 'delivery' }, { topic: 'price' }],
  };
  await deployed.store.put('inbox/may.json', Buffer.from(JSON.stringify(request)));

  await deployed.objectCreated('inbox/may.json');
  // Deliver the event a second time, as may happen.
  await deployed.objectCreated('inbox/may.json');
  await deployed.store.put('inbox/no-request.json', Buffer.from('{}'));
  await deployed.objectCreated('inbox/no-request.json');
  const summary = await summaryOf(deployed.store);

  const paid = Object.values(platform.counts().sentimentCalls);
  expect(paid).toHaveLength(DISTINCT);
  expect(Math.max(...paid)).toBe(1);
  expect(summary).toMatchObject({
    rows: TEXTS + 2,
    scored: TEXTS,
    failed: 0,
    bad: 2,
    calls: DISTINCT,
    cached: TEXTS - DISTINCT,
    paidAgain: 0,
    badRows: [{ line: TEXTS + 2 }, { line: TEXTS + 3 }],
  });
  // Count the same figures from the parts, row by row.
  const counted: Record<string, Record<string, number>> = {};
  const users: string[] = [];
  for (const { key } of summary.parts) {
    const part = gunzipSync((await deployed.store.get(key))?.body ?? Buffer.alloc(0)).toString();
    for (const line of part.trimEnd().split('\n')) {
      const { id, columns, topicSentiments } = JSON.parse(line);
      if (topicSentiments === undefined) continue;
      users.push(`${id} ${columns.channel}`);
      for (const [topic, sentiment] of Object.entries<string>(topicSentiments)) {
        const value = sentiment.toLowerCase();
        counted[topic] = { ...counted[topic], [value]: (counted[topic]?.[value] ?? 0) + 1 };
      }
    }
  }
  expect(summary.sentiments.topics).toEqual(counted);
  expect(users).toEqual(rows.map((_, row) => `u-${row} ${row % 2 === 0 ? 'mail' : 'chat'}`));
  // The summary is written once: repeating the request changes nothing.
  await deployed.objectCreated('inbox/may.json');
  expect(await summaryOf(deployed.store)).toEqual(summary);
  expect(await Array.fromAsync(deployed.store.list('refused/'))).toHaveLength(1);
  expect(deployed.refusals()).toEqual([]);
});

type Deployed = Awaited<ReturnType<typeof startDeployedWorker>>;

async function summaryOf(store: Deployed['store']) {
  for (;;) {
    const stored = await store.get('scores/may/_summary.json');
    if (stored !== undefined) return JSON.parse(stored.body.toString());
    await delay(200);
  }
}
