import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type CalculationPage, fetchPage, PAGE_ROWS } from './fetch-page.ts';

/*
 * A typical user's script, `node typical-stream.ts FILE`: parses each page, and prints each record through gzip at its
 * default level into a file, in place of an upload. Each record is a chunk, as from a generator of lines.
 */

const [, , file = ''] = process.argv;
let records = 0;

async function* lines() {
  for (let offset = 0; ; offset += PAGE_ROWS) {
    const page = JSON.parse(await (await fetchPage(offset)).text()) as CalculationPage;
    records += page.results.length;
    yield* page.results.map((record) => `${JSON.stringify(record)}\n`);
    if (records >= page.totalHits) return;
  }
}

await pipeline(Readable.from(lines()), createGzip(), createWriteStream(file));
console.log(JSON.stringify({ records }));
