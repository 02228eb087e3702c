import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { findEncoding } from '../../../../lib/jobs/texts/rows/encoding.ts';
import { RowsError } from '../../../../lib/jobs/texts/rows/rows-error.ts';
import { openSource } from '../../../../lib/jobs/texts/rows/source-bytes.ts';
import { LONGEST_ROW, sourceLines } from '../../../../lib/jobs/texts/rows/source-lines.ts';

async function* piecesOf(...pieces: readonly (string | readonly number[])[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : Buffer.from(piece);
}

const linesOf = async (name: string, ...pieces: readonly (string | readonly number[])[]) =>
  (await Array.fromAsync(sourceLines(piecesOf(...pieces), { name, markBytes: 0 }))).map(
    ({ text, end, fault }) => [text, end, ...(fault === undefined ? [] : [fault])],
  );

const INVALID = 'the line: expected utf-8, got invalid bytes';

describe('lines', () => {
  test.each([
    [
      'end in LF',
      ['a\nb\n'],
      [
        ['a', '\n'],
        ['b', '\n'],
      ],
    ],
    [
      'end in CR, also the last',
      ['a\rb\r'],
      [
        ['a', '\r'],
        ['b', '\r'],
      ],
    ],
    [
      'end in CRLF, also between two pieces',
      ['a\r', '\nb'],
      [
        ['a', '\r\n'],
        ['b', ''],
      ],
    ],
    [
      'end in CR at the end of a piece',
      ['a\r', 'b'],
      [
        ['a', '\r'],
        ['b', ''],
      ],
    ],
    [
      'may be empty',
      ['\n\n'],
      [
        ['', '\n'],
        ['', '\n'],
      ],
    ],
    ['are none in nothing', [''], []],
  ])('%s', async (_, pieces, expected) => {
    expect(await linesOf('utf-8', ...pieces)).toEqual(expected);
  });

  test('are as long as a row, and no longer', async () => {
    const longest = 'x'.repeat(LONGEST_ROW);

    expect(await linesOf('utf-8', `${longest}\n`)).toEqual([[longest, '\n']]);
    expect(await linesOf('utf-8', longest, 'x\nb')).toEqual([
      ['', '\n', `the line: expected at most ${LONGEST_ROW} bytes, got more`],
      ['b', ''],
    ]);
  });

  test('contain a mark that is not at the beginning of the file', async () => {
    expect(await linesOf('utf-8', 'a\n\uFEFFb\n', '\uFEFF', [0xff])).toEqual([
      ['a', '\n'],
      ['\uFEFFb', '\n'],
      ['\uFEFF\uFFFD', '', INVALID],
    ]);
  });

  test('of UTF-16 with an odd number of bytes end with a fault', async () => {
    expect(await linesOf('utf-16le', [0x61, 0, 0x0a, 0, 0x62])).toEqual([
      ['a', '\n'],
      ['\uFFFD', '', 'the line: expected utf-16le, got invalid bytes'],
    ]);
  });
});

describe('the bytes of a source', () => {
  const allOf = async (pieces: AsyncIterable<Uint8Array>, sizeBytes = 10) => {
    await using source = await openSource(pieces, sizeBytes);
    return Buffer.concat(await Array.fromAsync(source.all()));
  };

  test.each([[[0x1f, 0x41]], [[0x41, 0x8b]], [[0x1f]], [[]]])(
    'are gzip only if both of the first two say so: %j',
    async (bytes) => {
      expect(await allOf(piecesOf(bytes))).toEqual(Buffer.from(bytes));
    },
  );

  test('are unpacked if they are gzip', async () => {
    expect((await allOf(piecesOf([...gzipSync('hello')]))).toString()).toBe('hello');
  });

  test('are read no further ahead than was asked for', async () => {
    let read = 0;
    const counted = async function* counted() {
      for (const piece of ['abcd', 'efgh', 'ijkl']) {
        read += 1;
        yield Buffer.from(piece);
      }
    };

    const source = await openSource(counted(), 8);

    expect(Buffer.from(source.head).toString()).toBe('abcdefgh');
    expect(read).toBe(2);
  });

  test('may come from an iterator that cannot be closed', async () => {
    const rest = [Buffer.from('hello')];
    const open: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const value = rest.shift();
          return value === undefined ? { done: true, value: undefined } : { done: false, value };
        },
      }),
    };

    expect((await allOf(open)).toString()).toBe('hello');
  });

  test('that are broken gzip are reported with the cause', async () => {
    const body = gzipSync('hello');

    const read = allOf(piecesOf([...body.subarray(0, -4)]));

    await expect(read).rejects.toBeInstanceOf(RowsError);
    await expect(read).rejects.toMatchObject({ cause: { code: 'Z_BUF_ERROR' } });
  });

  test.each([new Error('no store'), Object.assign(new Error('no file'), { code: 'ENOENT' })])(
    'that cannot be read are no broken gzip: %s',
    async (error) => {
      const failing = async function* failing() {
        yield gzipSync('hello').subarray(0, 12);
        throw error;
      };

      await expect(allOf(failing())).rejects.toBe(error);
    },
  );
});

describe('the encoding', () => {
  test.each([
    ['half of a mark', [0xff, 0x41, 0x42, 0x43]],
    ['no more valid characters than broken bytes', [0xc3, 0xa9, 0xff]],
  ])('is not a Unicode one for %s', (_, bytes) => {
    expect(findEncoding(Buffer.from(bytes)).name).not.toMatch(/^utf/);
  });

  test('is that of Windows where no other is likely: for a euro sign alone', () => {
    expect(findEncoding(Buffer.from([0x80])).name).toBe('windows-1252');
  });

  test('is not UTF-8 for bytes that only have its lengths', () => {
    // Surrogates, each in three bytes: as CESU-8 has them.
    const bytes = Buffer.from('eda0bdedb880'.repeat(20), 'hex');

    expect(findEncoding(bytes).name).not.toBe('utf-8');
  });

  test('is UTF-8 although one byte is broken and the sample ends in the middle of a character', () => {
    expect(findEncoding(Buffer.from([0xc3, 0xa9, 0xc3, 0xa9, 0xff, 0x41, 0xc3])).name).toBe('utf-8');
  });

  test('is UTF-8 for a text with U+FFFD whose sample ends in the middle of a character', () => {
    expect(findEncoding(Buffer.from([0xef, 0xbf, 0xbd, 0xc3])).name).toBe('utf-8');
  });
});
