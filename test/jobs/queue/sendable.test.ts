import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sendable, sentBytes } from '../../../lib/jobs/queue/sendable.ts';
import { anyCodePoint } from '../../any-text.ts';

const unit = fc.oneof(
  fc.string({ unit: anyCodePoint, maxLength: 5 }),
  fc.constantFrom('\u0000', '\t', '\u001F', '\uD800', '\uDC00', '\uFFFD', '\uFFFE', '\uFFFF', '\u{10FFFF}'),
);

test('a body is measured as it is sent, and is the same JSON', () => {
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const text = units.join('');

      expect(sentBytes(text)).toBe(Buffer.byteLength(sendable(text)));
      expect(JSON.parse(sendable(JSON.stringify(text)))).toBe(text);
    }),
  );
});
