import { writeFileSync } from 'node:fs';
import type { Row } from '../../bench/bench.ts';
import { costOf, page } from './page.ts';
import { type Size, sizes } from './sizes.ts';

/* Writes docs/cost.md, and prints the rows of the bench as JSON. */

function rowOf(size: Size): Row {
  const { onDemand, afterFree } = costOf(size);
  const value = `$${onDemand.toFixed(2)} on demand, $${afterFree.toFixed(2)} after what is free`;
  const { name, maxUsd } = size;
  return { measured: name, value, bound: `at most $${maxUsd} on demand`, ok: onDemand <= maxUsd };
}

writeFileSync('docs/cost.md', page());
console.log(JSON.stringify(sizes.map(rowOf)));
