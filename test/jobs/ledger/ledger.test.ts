import { createMemoryTable } from '../../table/memory-table.ts';
import { describeLedger } from './ledger-suite.ts';

describeLedger('the ledger in memory', async () => createMemoryTable());
