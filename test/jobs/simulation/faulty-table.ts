import type { RowKey, Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import type { Process } from './process.ts';
import type { World } from './world.ts';

/** How late a response of the table comes that is not lost: not so late that its sender gives up. */
const LATE_MS = 4_000;

/** A table as one process sees it: every step is an act of the world. Lists are for people, and meet no trouble. */
export function faultyTable(table: Table, process: Process, world: World): Table {
  const act = <T>(label: string, perform: () => Promise<T>) =>
    world.act(process, {
      label,
      area: 'table',
      perform,
      travelMs: () => (process.isMortal && world.meets('table') ? LATE_MS : 0),
      failure: () => new TableError(label, { kind: 'unreachable', code: 'ECONNRESET' }),
    });
  return {
    get: (key) => act(`get ${nameOf(key)}`, () => table.get(key)),
    put: (key, row, options) =>
      act(`put ${nameOf(key)} ${String(row['state'])}`, () => table.put(key, row, options)),
    delete: (key, expected) => act(`delete ${nameOf(key)}`, () => table.delete(key, expected)),
    list: (partition) => table.list(partition),
    scan: (prefix) => table.scan(prefix),
  };
}

const nameOf = ({ partition }: RowKey) => partition.slice(0, 24);
