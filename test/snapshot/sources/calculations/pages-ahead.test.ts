import { expect, test } from 'vitest';
import { createPagesAhead } from '../../../../lib/snapshot/sources/calculations/pages-ahead.ts';

/** A reader that remembers which offsets were asked for, and which of them were given up. */
function createReader() {
  const asked: number[] = [];
  const givenUp: number[] = [];
  const read = async (offset: number, signal: AbortSignal) => {
    asked.push(offset);
    signal.addEventListener('abort', () => givenUp.push(offset));
    return `page ${offset}`;
  };
  return { asked, givenUp, read };
}

test('a page that was planned is not asked for again when it is taken', async () => {
  const { asked, read } = createReader();
  const ahead = createPagesAhead(read, undefined);

  ahead.plan([10, 20]);
  const page = await ahead.take(10);
  ahead.plan([20, 30]);

  expect(page).toBe('page 10');
  expect(asked).toEqual([10, 20, 30]);
});

test('what a new plan leaves out is given up, and so is all at the end', () => {
  const { givenUp, read } = createReader();
  const ahead = createPagesAhead(read, undefined);

  ahead.plan([10, 20]);
  ahead.plan([20, 25]);
  ahead.stop();

  expect(givenUp).toEqual([10, 20, 25]);
});

test('a page that failed tells so when it is taken, and nobody when it is given up', async () => {
  const ahead = createPagesAhead((offset) => Promise.reject(new Error(`no page ${offset}`)), undefined);

  ahead.plan([10, 20]);
  const taken = ahead.take(10);
  ahead.stop();

  await expect(taken).rejects.toThrow('no page 10');
});
