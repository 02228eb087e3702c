import { onEveryTable } from '../../table/every-table.ts';
import { describeLedger } from './ledger-suite.ts';

onEveryTable((buildTable) => describeLedger('the ledger', buildTable));
