import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { constants, createGzip, createZstdCompress } from 'node:zlib';
import { PAGE_ROWS } from './fetch-page.ts';

/*
 * The minimum work of any snapshot, `node floor.ts gzip|zstd RECORDS FOLDER`: reads the same pages as bytes, one page
 * ahead, compresses them at our level and in our chunks, and writes them, without parsing.
 */

const [, , compression, records, folder = ''] = process.argv;
const total = Number(records);
const CHUNK_BYTES = 1024 * 1024;
const agent = new Agent({ keepAlive: true });

async function readRaw(offset: number): Promise<Buffer> {
  const outgoing = request(`${process.env['PLATFORM_BASE_URL']}/api/query/v1/functions/search`, {
    method: 'POST',
    agent,
  });
  outgoing.end(
    JSON.stringify({ filters: [], sort: { field: 'id', ascending: true }, limit: PAGE_ROWS, offset }),
  );
  const [response] = await once(outgoing, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const compressor =
  compression === 'gzip'
    ? createGzip({ level: 1, chunkSize: CHUNK_BYTES })
    : createZstdCompress({ chunkSize: CHUNK_BYTES, params: { [constants.ZSTD_c_compressionLevel]: 1 } });
const written = finished(compressor.pipe(createWriteStream(join(folder, 'all'))));
let compressed: Promise<unknown> = Promise.resolve();
for (let offset = 0; offset < total; offset += PAGE_ROWS) {
  const page = await readRaw(offset);
  await compressed;
  compressed = new Promise((resolve) => compressor.write(page, resolve));
}
compressor.end();
await written;
agent.destroy();
console.log(JSON.stringify({ records: total }));
