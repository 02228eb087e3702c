import { constants, zstdCompressSync } from 'node:zlib';
import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import type { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { freeMemory } from '../../base/index.ts';
import { bitsOf, type EncodedValues, type Leaf, levelsOf, type SHIFTS } from './leaf.ts';

/** What the footer says of a leaf in a row group. */
type ColumnChunk = ReturnType<typeof writeColumn>['chunk'];

/** Memory in which one leaf after another is encoded: its page, and its levels. */
export type LeafMemory = { readonly page: ByteWriter; readonly levels: ByteWriter };

/**
 * Writes the values of a leaf in `rows` rows: a dictionary, if it has one, and one page. Returns what the footer says of it.
 */
export function writeLeaf(out: ByteWriter, leaf: Leaf, rows: number, memory: LeafMemory): ColumnChunk {
  const start = out.offset;
  const encoded = leaf.encoded(emptied(memory.page));
  const { dictionary } = encoded;
  const dictionaryBytes = dictionary === undefined ? 0 : writeDictionary(out, dictionary);
  const dataStart = out.offset;
  const dataBytes = writeData(out, leaf, { encoded, rows, levels: emptied(memory.levels) });
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
  freeMemory(packed);
  return headerBytes + page.byteLength;
}

function emptied(writer: ByteWriter): ByteWriter {
  writer.index = 0;
  writer.offset = 0;
  return writer;
}

type PageToWrite = { readonly encoded: EncodedValues; readonly rows: number; readonly levels: ByteWriter };

/** The same for the page of the values and their places. */
function writeData(out: ByteWriter, leaf: Leaf, { encoded, rows, levels }: PageToWrite): number {
  const { page, dictionary } = encoded;
  const { count } = leaf.levels;
  const repetitionBytes = writeLevels(levels, leaf, 'repetition');
  const definitionBytes = writeLevels(levels, leaf, 'definition');
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.offset + page.byteLength,
    compressed_page_size: levels.offset + packed.byteLength,
    data_page_header_v2: {
      num_values: count,
      num_nulls: count - encoded.count,
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
  freeMemory(packed);
  return headerBytes + levels.offset + page.byteLength;
}

/** Nothing if there is but one level. */
function writeLevels(out: ByteWriter, leaf: Leaf, which: keyof typeof SHIFTS): number {
  const most = leaf[which];
  return most === 0 ? 0 : writeRleBitPackedHybrid(out, levelsOf(leaf, which), bitsOf(most));
}

/** In one step and without copies on the way, since there is room for all of it: zstd needs 1/256 more at most, and a bit. */
const pack = (page: Uint8Array): Buffer =>
  zstdCompressSync(page, { chunkSize: page.byteLength + (page.byteLength >> 8) + 1_024, params: PARAMS });

const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 };
