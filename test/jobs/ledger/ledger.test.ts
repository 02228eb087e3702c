import { onEveryTable } from '../../table/every-table.ts';
import { describeLedger } from './ledger-suite.ts';

onEveryTable((makeTable) => describeLedger('the ledger', makeTable));
