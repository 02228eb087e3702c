import { expect, test } from 'vitest';
import { createPagesAhead } from '../../../../lib/snapshot/sources/calculations/pages-ahead.ts';

/** A reader that remembers which offsets were requested, and which of them were aborted. */
function createReader() {
  const requested: number[] = [];
  const aborted: number[] = [];
  const read = async (offset: number, signal: AbortSignal) => {
    requested.push(offset);
    signal.addEventListener('abort', () => aborted.push(offset));
    return `page ${offset}`;
  };
  return { requested, aborted, read };
}

test('a planned page is not requested again when it is taken', async () => {
  const { requested, read } = createReader();
  const ahead = createPagesAhead(read, undefined);

  ahead.plan([10, 20]);
  const page = await ahead.take(10);
  ahead.plan([20, 30]);

  expect(page).toBe('page 10');
  expect(requested).toEqual([10, 20, 30]);
});

test('pages missing from a new plan are aborted, and so are all pages at the end', () => {
  const { aborted, read } = createReader();
  const ahead = createPagesAhead(read, undefined);

  ahead.plan([10, 20]);
  ahead.plan([20, 25]);
  expect(aborted).toEqual([10]);
  ahead.stop();

  expect(aborted).toEqual([10, 20, 25]);
});

test('a page that was taken is requested again if it is needed again, and is not aborted', async () => {
  const { requested, aborted, read } = createReader();
  const ahead = createPagesAhead(read, undefined);

  ahead.plan([10]);
  await ahead.take(10);
  await ahead.take(10);
  ahead.stop();

  expect(requested).toEqual([10, 10]);
  expect(aborted).toEqual([]);
});

test('the error of a page is thrown when the page is taken, and ignored when the page is aborted', async () => {
  const ahead = createPagesAhead((offset) => Promise.reject(new Error(`no page ${offset}`)), undefined);

  ahead.plan([10, 20]);
  const taken = ahead.take(10);
  ahead.stop();

  await expect(taken).rejects.toThrow('no page 10');
});

test('the error of a page that nobody takes is handled', async () => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', record);

  createPagesAhead(() => Promise.reject(new Error('no page')), undefined).plan([10]);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', record);

  expect(unhandled).toEqual([]);
});
