import { onEveryTable } from './every-table.ts';
import { describeTable } from './table-suite.ts';

onEveryTable((buildTable) => describeTable('a table', buildTable));
