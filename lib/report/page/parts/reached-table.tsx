import { useState } from 'preact/hooks';
import { relations } from '../../../model/rules/index.ts';
import { parseSort, type Sort, sorted } from '../lists/find.ts';
import type { Column } from '../lists/list.ts';
import { Heads, Row } from '../lists/list-table.tsx';
import { Pages } from '../lists/pages.tsx';
import type { Reached } from '../state/reached.ts';
import type { Report } from '../state/report.ts';
import { count } from '../text/numbers.ts';
import { NodeLink } from './node-link.tsx';
import { Scrolled } from './scrolled.tsx';

const PAGE = 50;

type Props = {
  readonly reached: readonly Reached[];
  readonly report: Report;
  readonly direction: 'users' | 'used';
};

/** Everything that was reached, as a list that is sorted by any of its columns. */
export function ReachedTable({ reached, report, direction }: Props) {
  const [sort, setSort] = useState<Sort>(parseSort('hop'));
  const [page, setPage] = useState(1);
  const columns = columnsOf(reached, report, direction);
  const column = columns.find(({ name }) => name === sort.name);
  const rows = reached.map((_, row) => row);
  const ordered = column === undefined ? rows : sorted(rows, column, sort.descending);
  return (
    <>
      <Scrolled label="Table of what was found">
        <table class="list">
          <caption class="quiet">{direction === 'users' ? 'What uses it' : 'What it uses'}</caption>
          <Heads columns={columns} sort={sort} onSort={setSort} />
          <tbody>
            {ordered.slice((page - 1) * PAGE, page * PAGE).map((row) => (
              <Row key={row} row={row} columns={columns} />
            ))}
          </tbody>
        </table>
      </Scrolled>
      <Pages number={page} pages={Math.ceil(reached.length / PAGE)} onPage={setPage} />
    </>
  );
}

function columnsOf(
  reached: readonly Reached[],
  { nodes, facts }: Report,
  direction: Props['direction'],
): readonly Column[] {
  const node = (row: number) => nodes[reached[row]?.node ?? -1];
  const before = (row: number) => {
    const edge = reached[row]?.edge ?? -1;
    return nodes[(direction === 'users' ? facts.graph.used[edge] : facts.graph.user[edge]) ?? -1];
  };
  const nameOf = (of: ReturnType<typeof node>) => of?.name || (of?.id ?? '');
  const link = (of: ReturnType<typeof node>) => of && <NodeLink {...of} />;
  return [
    {
      name: 'name',
      label: 'Name',
      text: (row) => nameOf(node(row)),
      cell: (row) => link(node(row)),
      isHeading: true,
    },
    { name: 'kind', label: 'Kind', text: (row) => node(row)?.kind ?? '' },
    {
      name: 'relation',
      label: direction === 'users' ? 'How' : 'How it is used',
      text: (row) => relations[facts.graph.relation[reached[row]?.edge ?? -1] ?? -1] ?? '',
    },
    {
      name: 'via',
      label: direction === 'users' ? 'What' : 'By what',
      text: (row) => nameOf(before(row)),
      cell: (row) => link(before(row)),
    },
    {
      name: 'hop',
      label: 'Hops',
      text: (row) => count(reached[row]?.hop ?? 0),
      number: (row) => reached[row]?.hop ?? 0,
      isNumber: true,
    },
    { name: 'id', label: 'Id', text: (row) => node(row)?.id ?? '' },
  ];
}
