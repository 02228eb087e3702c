import * as z from 'zod/mini';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { type BatchStorage, batchPartition, HEADER_SORT, RETENTION_MS } from './batch.ts';

const headerSchema = z.object({ chunks: z.number(), rows: z.number(), badRows: z.number() });

/** What the splitter stores last: how many chunks there are, and the rows in them, including bad ones. */
export type BatchHeader = z.infer<typeof headerSchema>;

const headerKey = (batch: string) => ({ partition: batchPartition(batch), sort: HEADER_SORT });

export async function readHeader(batch: string, { table }: BatchStorage): Promise<BatchHeader | undefined> {
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
  return canonicalJson(headerSchema.parse(row)) === canonicalJson(header);
}
