import { reach } from '../../../model/graph/closure.ts';
import { relations } from '../../../model/rules/index.ts';
import { NodeLink } from '../parts/node-link.tsx';
import type { Node } from '../state/nodes.ts';
import type { Report } from '../state/report.ts';
import { count } from '../text/numbers.ts';
import type { Column, List } from './list.ts';

/** The links that are not VALID: whose they are, what they name, and how much depends on whoever has them. */
export function brokenList(report: Report): List {
  const { calculations } = report.facts;
  const { broken } = report.graph;
  const { user, used, columns } = columnsOf(report);
  return {
    noun: ['broken link', 'broken links'],
    length: broken.length,
    total: calculations?.brokenLinks ?? broken.length,
    isWhole: broken.length === calculations?.brokenLinks,
    columns,
    flags: [],
    textOf: (row) => [user(row), used(row)].map((node) => `${node?.name} ${node?.id}`).join(' '),
    sort: '-reaches',
    empty: 'Every link of every calculation is valid.',
  };
}

type Found = (row: number) => Node | undefined;

function columnsOf({ facts, nodes, graph: { broken, users } }: Report) {
  const edge = (row: number) => broken[row]?.edge ?? -1;
  const user: Found = (row) => nodes[facts.graph.user[edge(row)] ?? -1];
  const used: Found = (row) => nodes[facts.graph.used[edge(row)] ?? -1];
  const reaches = reachOf(users, (row) => facts.graph.user[edge(row)] ?? 0);
  const columns: readonly Column[] = [
    {
      name: 'user',
      label: 'Who refers',
      text: (row) => nameOf(user(row)),
      cell: (row) => linkTo(user(row)),
      isHeading: true,
    },
    {
      name: 'relation',
      label: 'How',
      text: (row) => relations[facts.graph.relation[edge(row)] ?? -1] ?? '',
      isFacet: true,
    },
    {
      name: 'used',
      label: 'To what',
      text: (row) => nameOf(used(row)),
      cell: (row) => (
        <>
          {used(row)?.kind} {linkTo(used(row))}
        </>
      ),
    },
    {
      name: 'valid',
      label: 'The link is',
      text: (row) => broken[row]?.valid ?? '',
      isFacet: true,
      // Letters may come in any case, and are counted as one.
      values: (row) => [broken[row]?.valid.toUpperCase() ?? ''],
    },
    {
      name: 'reaches',
      label: 'Depend on it',
      text: (row) => count(reaches(row)),
      number: reaches,
      isNumber: true,
    },
  ];
  return { user, used, columns };
}

const nameOf = (node: Node | undefined): string => node?.name || (node?.id ?? '');

const linkTo = (node: Node | undefined) => node && <NodeLink {...node} />;

/** How many things depend on the node of a row, counted once for each node. */
function reachOf(users: Report['graph']['users'], nodeOf: (row: number) => number): (row: number) => number {
  const known = new Map<number, number>();
  return (row) => {
    const node = nodeOf(row);
    const many = known.get(node) ?? reach(users, [node]).nodes.length;
    known.set(node, many);
    return many;
  };
}
