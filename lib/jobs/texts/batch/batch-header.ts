import * as z from 'zod/mini';
import { canonicalJson } from '../../../base/index.ts';
import { type BatchStorage, batchPartition, HEADER_SORT, RETENTION_MS } from './batch.ts';

const count = z.number();

const inputSchema = z.object({
  format: z.enum(['csv', 'ndjson', 'json']),
  encoding: z.string(),
  separator: z.optional(z.string()),
  skipped: count,
  repeatedIds: z.optional(
    z.object({
      rows: count,
      first: z.readonly(z.array(z.object({ id: z.string(), lines: z.readonly(z.tuple([count, count])) }))),
      compared: z.optional(count),
    }),
  ),
});

const headerSchema = z.object({
  chunks: count,
  rows: count,
  badRows: count,
  /** Absent if nothing was said of the source. */
  input: z.optional(inputSchema),
});

/** What the splitter stores last: how many chunks there are, and the rows in them, including bad ones. */
export type BatchHeader = z.infer<typeof headerSchema>;

/** The chunks hold the rows: what their source was found to be stays as the first splitter saw it. */
const sizeOf = ({ chunks, rows, badRows }: BatchHeader) => canonicalJson({ chunks, rows, badRows });

const headerKey = (batch: string) => ({ partition: batchPartition(batch), sort: HEADER_SORT });

export async function readHeader(
  batch: string,
  { table }: Pick<BatchStorage, 'table'>,
): Promise<BatchHeader | undefined> {
  const stored = await table.get(headerKey(batch));
  return stored && headerSchema.parse(stored.row);
}

/** Stores the header; false if there is a different one. Splitting the same batch again gives the same header. */
export async function writeHeader(
  batch: string,
  header: BatchHeader,
  { table, newToken, now }: BatchStorage,
): Promise<boolean> {
  const expiresAtMs = now() + RETENTION_MS;
  const put = await table.put(headerKey(batch), header, { expected: null, token: newToken(), expiresAtMs });
  if (put.kind === 'stored') return true;
  const { row } = put.current ?? {};
  return sizeOf(headerSchema.parse(row)) === sizeOf(header);
}
