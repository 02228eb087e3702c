import { createMemoryTable } from '../../lib/table/memory-table.ts';
import { describeTable } from './table-suite.ts';

describeTable('a table in memory', async () => createMemoryTable());
