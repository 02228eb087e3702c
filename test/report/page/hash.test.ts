import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashOf, parseHash } from '../../../lib/report/page/state/hash.ts';
import { anyCodePoint } from '../../any-text.ts';

test('the address of a view determines what the page shows', () => {
  expect(hashOf('calculations', { flag: 'broken', q: 'a & b', page: '' })).toBe(
    '#calculations?flag=broken&q=a+%26+b',
  );
  expect(parseHash('#calculations?flag=broken&q=a+%26+b')).toEqual({
    view: 'calculations',
    params: { flag: 'broken', q: 'a & b' },
  });
});

test.each(['', '#', '#nothing', '#<script>', '#?q=1'])('the address %s shows the health view', (hash) => {
  expect(parseHash(hash).view).toBe('health');
});

test('every view can be read back from its address', () => {
  const params = fc.dictionary(
    fc.stringMatching(/^[a-z.]+$/),
    fc.string({ unit: anyCodePoint, minLength: 1 }),
    { maxKeys: 3 },
  );

  fc.assert(
    fc.property(params, (each) => {
      expect(parseHash(hashOf('cards', each))).toEqual({ view: 'cards', params: each });
    }),
  );
});
