import { expect, test } from 'vitest';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { createMemoryStore } from '../../store/memory-store.ts';

test('the response of a job is its JSON byte for byte, and a lone surrogate in a string becomes ?', async () => {
  const responses = [
    ['{"n":12345678901234567890,"x":1.50}', '{"n":12345678901234567890,"x":1.50}'],
    ['"text"', 'text'],
    ['"quoted \\"text\\"\\n"', 'quoted "text"\n'],
    ['"half a pair \\ud800"', 'half a pair ?'],
    ['[1,{"a":"\\udc00"}]', '[1,{"a":"?"}]'],
    ['null', null],
    ['true', 'true'],
    ['"\\u0000"', '\u0000'],
    ['"ünï 😀"', 'ünï 😀'],
    ['""', ''],
  ] as const;
  const store = createMemoryStore();
  for (const [at, [response]] of responses.entries())
    await store.put(
      `results/run-function/dt=2026-11-21/job-${at}.json`,
      Buffer.from(`{"version":1,"id":"job-${at}","response":${response}}\n`),
    );
  await using tables = await openTables(store);

  const { first } = await tables.run('SELECT response FROM jobs ORDER BY id', { maxRows: 100 });

  expect(first.flat()).toEqual(responses.map(([, text]) => text));
});
