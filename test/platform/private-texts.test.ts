import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { PlatformEvent } from '../../lib/platform/events.ts';
import { analyzeSentiment } from '../../lib/platform/operations/analyze-sentiment.ts';
import { caught } from './caught.ts';
import { clientAt } from './client-at.ts';
import { everythingOf } from './everything-of.ts';
import { bytes, json, page, type Reply, startServer } from './scripted-server.ts';

/* A text to score is private: no error quotes it, even if the platform's response quotes parts of it. */

const TEXT = 'my neighbour Erika was rude to me';
const inJson = { 'content-type': 'application/json' };

const echoes: readonly (readonly [string, string, Reply])[] = [
  [
    'the message of an error',
    'status',
    json({ message: `cannot score "${TEXT}"`, toe: 'D2RFR14QKK-0FWIV' }, 400),
  ],
  ['the reason of an error', 'status', json({ statusReason: TEXT.slice(0, 20) }, 422)],
  ['the reference of an error', 'status', json({ toe: TEXT }, 409)],
  ['plain text', 'status', bytes(TEXT, {}, 400)],
  ['a bare text', 'status', bytes(JSON.stringify(TEXT.toUpperCase()), inJson, 400)],
  ['the title of an error page', 'status', page(TEXT, 500)],
  ['the title of a page', 'not-json', page(TEXT)],
  ['an error with the status of a success', 'shape', json({ errorCode: TEXT, errorMessage: TEXT })],
  ['an error of the shape that texts have', 'status', json({ errorCode: TEXT, errorMessage: TEXT }, 400)],
  ['a body that is cut off', 'shape', bytes(`{"sentiment":"${TEXT}`, inJson)],
];

test.for(echoes)(
  'no error or event shows a scored text that the platform returned in %s',
  async ([, kind, reply]) => {
    await using server = await startServer(reply);
    const events: PlatformEvent[] = [];
    const platform = clientAt(server.url, {
      retry: { maxRetries: 1, maxMisdirectedRetries: 1, baseDelayMs: 1, budgetMs: 100 },
      observe: (event) => events.push(event),
    });

    const error = await caught(platform.sentiment.analyze({ text: TEXT }));

    expect(error.failure.kind).toBe(kind);
    for (const seen of [everythingOf(error), ...events.map(everythingOf)])
      for (const word of ['neighbour', 'erika', 'rude']) expect(seen.toLowerCase()).not.toContain(word);
  },
);

test('a fault of a response’s shape has the kind of a value, and does not quote it', async () => {
  await using server = await startServer(json({ sentiment: TEXT, confidence: true }));
  const output = () => z.object({ sentiment: z.number(), confidence: z.string() });

  const error = await caught(
    clientAt(server.url).call(
      { ...analyzeSentiment, output },
      { body: { input: [{ type: 'text', text: TEXT }] } },
    ),
  );

  expect(error.failure).toMatchObject({
    kind: 'shape',
    faults: [
      expect.stringContaining('text of 33 characters (not shown)'),
      expect.stringMatching(/confidence.*true/),
    ],
  });
  expect(error.message).not.toContain('Erika');
});

test('the platform’s reference of an error is shown even if its message is not', async () => {
  await using server = await startServer(json({ message: TEXT, toe: 'D2RFR14QKK-0FWIV-QTGGZ' }, 400));
  const platform = clientAt(server.url);

  const error = await caught(platform.sentiment.analyze({ text: TEXT }));

  expect(error.message).toContain('D2RFR14QKK-0FWIV-QTGGZ');
  expect(error.message).toContain('(not shown)');
});
