import { onEveryTable } from './every-table.ts';
import { describeTable } from './table-suite.ts';

onEveryTable((makeTable) => describeTable('a table', makeTable));
