import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type CalculationPage, fetchPage, PAGE_ROWS } from './fetch-page.ts';

/*
 * What one writes first, `node gather-all.ts FILE`: page by page into one array, each record printed, all compressed at
 * once, one write. Many would use axios, which is not a dependency here: `fetch` does the same, and is no slower.
 */

const records: unknown[] = [];
for (let offset = 0; ; offset += PAGE_ROWS) {
  const page = (await (await fetchPage(offset)).json()) as CalculationPage;
  records.push(...page.results);
  if (records.length >= page.totalHits) break;
}
const lines = records.map((record) => JSON.stringify(record)).join('\n');
writeFileSync(process.argv[2] ?? '', gzipSync(lines));
console.log(JSON.stringify({ records: records.length }));
