import { constants, zstdCompressSync } from 'node:zlib';
import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import type { writeColumn } from 'hyparquet-writer/src/column.js';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { freeMemory } from '../../base/index.ts';
import { bitsOf, type Leaf, levelsOf, type SHIFTS } from './leaf.ts';

/** What the footer says of a leaf in a row group. */
type ColumnChunk = ReturnType<typeof writeColumn>['chunk'];

/** Memory in which one leaf after another is encoded: its page, and its levels. */
export type LeafMemory = { readonly page: ByteWriter; readonly levels: ByteWriter };

/**
 * Writes the values of a leaf in `rows` rows: a dictionary, if it has one, and one page. Returns what the footer says of it.
 */
export function writeLeaf(out: ByteWriter, leaf: Leaf, rows: number, memory: LeafMemory): ColumnChunk {
  const start = out.offset;
  const { page, dictionary, count } = leaf.encoded(emptied(memory.page));
  const encoding = dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  const dictionaryBytes =
    dictionary === undefined
      ? 0
      : writePage(out, dictionary.page, {
          type: 'DICTIONARY_PAGE',
          dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
        });
  const dataStart = out.offset;
  const levels = emptied(memory.levels);
  const repetitionBytes = writeLevels(levels, leaf, 'repetition');
  const definitionBytes = writeLevels(levels, leaf, 'definition');
  const about = {
    type: 'DATA_PAGE_V2',
    data_page_header_v2: {
      num_values: leaf.levels.count,
      num_nulls: leaf.levels.count - count,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: definitionBytes,
      repetition_levels_byte_length: repetitionBytes,
      is_compressed: true,
    },
  } as const;
  const dataBytes = writePage(out, page, about, levels.getBytes());
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
    },
  };
}

function emptied(writer: ByteWriter): ByteWriter {
  writer.index = 0;
  writer.offset = 0;
  return writer;
}

type PageHeader = Parameters<typeof writePageHeader>[1];

const NO_LEVELS = new Uint8Array(0);

/** Writes a page: its header, its levels as they are, and its values compressed. Returns its bytes, uncompressed. */
function writePage(
  out: ByteWriter,
  page: Uint8Array,
  about: Omit<PageHeader, 'uncompressed_page_size' | 'compressed_page_size'>,
  levels = NO_LEVELS,
): number {
  const packed = pack(page);
  const start = out.offset;
  writePageHeader(out, {
    ...about,
    uncompressed_page_size: levels.length + page.byteLength,
    compressed_page_size: levels.length + packed.byteLength,
  });
  const headerBytes = out.offset - start;
  out.appendBytes(levels);
  out.appendBytes(packed);
  freeMemory(packed);
  return headerBytes + levels.length + page.byteLength;
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
