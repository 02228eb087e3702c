import { pythonReaders } from '../engines/python-readers.ts';
import { spark } from '../engines/spark.ts';
import type { Suite } from './suite.ts';

/** What docs/tables.md says of other readers. */
export const readers: Suite = [
  { engines: [pythonReaders], files: ['test/tables/readers.conformance.ts'] },
  { engines: [spark], files: ['test/tables/readers.conformance.ts'] },
];
