import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import type { BudgetItem } from '../../../lib/pace/budget.ts';
import type { Send } from '../../../lib/platform/http/transport.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { Table } from '../../../lib/table/table.ts';
import type { Executions } from './executions.ts';
import type { SharedQueue } from './shared-queue.ts';
import type { SharedTable } from './shared-table.ts';
import type { WholePlatform } from './whole-platform.ts';
import type { World } from './world.ts';

/** Parts that replace the real ones. They are broken on purpose, to check that the simulation finds it. */
export type Parts = {
  readonly withLedger?: (ledger: Ledger) => Partial<Ledger>;
  readonly withSend?: (send: Send) => Send;
  readonly withBudget?: (item: BudgetItem) => Partial<BudgetItem>;
  readonly withTable?: (table: Table) => Partial<Table>;
  readonly withQueue?: (queue: Queue) => Partial<Queue>;
};

/** The services and facts that all processes share. */
export type Scene = {
  readonly world: World;
  readonly parts: Parts;
  readonly table: SharedTable;
  readonly store: Store;
  readonly queue: SharedQueue;
  readonly platform: WholePlatform;
  readonly executions: Executions;
  /** Called for every job that is reported as finished. */
  readonly reported: (id: string, status: string) => void;
};
