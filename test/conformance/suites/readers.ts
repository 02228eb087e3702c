import { pythonReaders } from '../engines/python-readers.ts';
import { spark } from '../engines/spark.ts';
import type { Suite } from './suite.ts';

/** What docs/tables.md says of other readers: large downloads, so only by command. */
export const readers: Suite = [
  { engines: [pythonReaders], quick: false, files: ['test/tables/readers.conformance.ts'] },
  { engines: [spark], quick: false, files: ['test/tables/readers.conformance.ts'] },
];
