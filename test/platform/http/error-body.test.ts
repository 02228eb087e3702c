import { expect, test } from 'vitest';
import { pageTitle, readErrorBody } from '../../../lib/platform/http/error-body.ts';

const long = 'x'.repeat(10_000);

test.each<[string, (hide: (text: string) => string) => unknown]>([
  ['text', (hide) => readErrorBody(long, { hide, hideToken: hide })],
  ['a message', (hide) => readErrorBody(JSON.stringify({ message: long }), { hide, hideToken: hide })],
  ['the title of a page', (hide) => pageTitle(`<html><title>${long}</title>`, hide)],
])('only the beginning of %s is searched for secrets, and shown', (_, read) => {
  const searched: number[] = [];

  read((text) => {
    searched.push(text.length);
    return text;
  });

  expect(searched).toEqual([4_000]);
});
