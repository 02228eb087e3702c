import { createHash } from 'node:crypto';
import type { TableColumns } from './fit-lines.ts';

/** Goes up when the same lines and columns give other rows. */
const VERSION = 1;

/** Names what the Parquet of a part depends on besides the part: 12 characters, other ones for other columns. */
export const parquetFormat = (columns: TableColumns): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, Object.entries(columns)]))
    .digest('hex')
    .slice(0, 12);
