import { createHash } from 'node:crypto';

export type FilePageRequest = {
  readonly total: number;
  readonly offset: number;
  readonly limit: number;
  readonly version: number;
  /** One in this number of files is changed in a version; 0: none. */
  readonly changedEvery: number;
  /** Newest files first, for the request that probes whether files are sorted. */
  readonly isNewest: boolean;
};

/** When the first file was created, in epoch milliseconds. */
const FIRST_MS = 1_600_000_000_000;

const HASHES = Array.from({ length: 4_096 }, (_, index) =>
  createHash('sha256').update(`${index}`).digest('hex'),
);
const hashOf = (index: number) => HASHES[index % HASHES.length] ?? '';

/**
 * A page of files, about 500 bytes each. They are the same in every run except for their links, which are signed anew
 * in each version. They are sorted by creation time, and their ids are not in order.
 */
export function filePage({ total, offset, limit, version, changedEvery, isNewest }: FilePageRequest): Buffer {
  const end = Math.min(total, offset + limit);
  const files: string[] = [];
  for (let row = offset; row < end; row += 1) {
    const index = isNewest ? total - 1 - row : row;
    const isChanged = changedEvery > 0 && index % changedEvery === 0;
    files.push(printFile(index, isChanged ? version : 1, version));
  }
  const next = end < total ? `"${end}"` : 'null';
  return Buffer.from(
    `{"files":[${files.join(',')}],"pageContext":{"next":${next},"offset":${offset},"limit":${limit},"total":${total}}}`,
  );
}

function printFile(index: number, version: number, signed: number): string {
  const mixed = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  const id = `${mixed.toString(16).padStart(8, '0')}-${hashOf(index).slice(0, 4)}-4${hashOf(index).slice(4, 7)}-8${hashOf(index).slice(7, 10)}-${index.toString(16).padStart(12, '0')}`;
  const name = `report-${mixed % 100_000}.pdf`;
  const signature = hashOf(mixed + signed).slice(0, 43);
  return `{"id":"${id}","path":"/archive/${mixed % 977}/${index % 1_009}/${name}","name":"${name}","fileType":"FILE","contentType":"application/pdf","size":${(mixed % 9_000_000) + version},"created":"${new Date(FIRST_MS + 60_000 * index).toISOString()}","createdBy":${100_000_000 + (mixed % 900_000)},"hash":"${hashOf(mixed)}","hashAlgorithm":"SHA_256","downloadUrl":"https://files.example.com/${id}?signature=${signature}&expires=${1_763_000_000 + signed}","connectorKey":null,"indexStatus":"INDEXED","indexReason":null}`;
}
