import { constants, zstdCompressSync } from 'node:zlib';
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import type { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';

import type { EncodedValues, Leaf } from './leaf.ts';

/** What the footer says of a leaf in a row group. */
type ColumnChunk = ReturnType<typeof writeColumn>['chunk'];

/** Writes the values of a leaf in `rows` rows: a dictionary, if it has one, and one page. Returns what the footer says of it. */
export function writeLeaf(out: ByteWriter, leaf: Leaf, rows: number): ColumnChunk {
  const start = out.offset;
  const encoded = leaf.encoded();
  const { dictionary } = encoded;
  const dictionaryBytes = dictionary === undefined ? 0 : writeDictionary(out, dictionary);
  const dataStart = out.offset;
  const dataBytes = writeData(out, leaf, encoded, rows);
  const encoding = dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: leaf.type,
      encodings: dictionary === undefined ? ['RLE', 'PLAIN'] : ['RLE', 'PLAIN', encoding],
      path_in_schema: [...leaf.path],
      codec: 'ZSTD',
      num_values: BigInt(leaf.levels.count),
      total_compressed_size: BigInt(out.offset - start),
      total_uncompressed_size: BigInt(dictionaryBytes + dataBytes),
      data_page_offset: BigInt(dataStart),
      ...(dictionary === undefined ? {} : { dictionary_page_offset: BigInt(start) }),
      statistics: statisticsOf(leaf, encoded),
      encoding_stats: [
        ...(dictionary === undefined
          ? []
          : [{ page_type: 'DICTIONARY_PAGE', encoding: 'PLAIN', count: 1 } as const]),
        { page_type: 'DATA_PAGE_V2', encoding, count: 1 },
      ],
    },
  };
}

/** Returns the bytes of the page, uncompressed, with its header. */
function writeDictionary(out: ByteWriter, { page, count }: NonNullable<EncodedValues['dictionary']>): number {
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: page.byteLength,
    compressed_page_size: packed.byteLength,
    dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
  });
  const headerBytes = out.offset - start;
  out.appendBytes(packed);
  return headerBytes + page.byteLength;
}

/** The same for the page of the values and their places. */
function writeData(out: ByteWriter, leaf: Leaf, { page, dictionary }: EncodedValues, rows: number): number {
  const { count, definitions, repetitions } = leaf.levels;
  const levels = new ByteWriter();
  const repetitionBytes = writeLevels(levels, repetitions.subarray(0, count), leaf.repetition);
  const definitionBytes = writeLevels(levels, definitions.subarray(0, count), leaf.definition);
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.offset + page.byteLength,
    compressed_page_size: levels.offset + packed.byteLength,
    data_page_header_v2: {
      num_values: count,
      num_nulls: nullsOf(leaf),
      num_rows: rows,
      encoding: dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY',
      definition_levels_byte_length: definitionBytes,
      repetition_levels_byte_length: repetitionBytes,
      is_compressed: true,
    },
  });
  const headerBytes = out.offset - start;
  out.appendBytes(levels.getBytes());
  out.appendBytes(packed);
  return headerBytes + levels.offset + page.byteLength;
}

/** Levels up to `most`; nothing if there is but one. */
function writeLevels(out: ByteWriter, levels: Uint8Array, most: number): number {
  return most === 0 ? 0 : writeRleBitPackedHybrid(out, levels, Math.ceil(Math.log2(most + 1)));
}

function nullsOf({ levels: { definitions, count }, definition }: Leaf): number {
  let nulls = 0;
  for (let place = 0; place < count; place += 1) if (definitions[place] !== definition) nulls += 1;
  return nulls;
}

const statisticsOf = (leaf: Leaf, { bounds }: EncodedValues) => ({
  null_count: BigInt(nullsOf(leaf)),
  ...(bounds === undefined ? {} : { min_value: bounds.min, max_value: bounds.max }),
});

const pack = (page: Uint8Array): Uint8Array =>
  zstdCompressSync(page, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });

const LEVEL = 1;
