import { createMemoryTable } from './memory-table.ts';
import { describeTable } from './table-suite.ts';

describeTable('a table in memory', async () => createMemoryTable());
