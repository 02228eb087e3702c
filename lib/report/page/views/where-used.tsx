import { useMemo, useState } from 'preact/hooks';
import { relations } from '../../../model/rules/index.ts';
import { columnKinds } from '../lists/columns.tsx';
import { matching, parseSort, type Sort } from '../lists/find.ts';
import type { Column } from '../lists/list.ts';
import { Table } from '../lists/table.tsx';
import { LayersPicture } from '../parts/layers-picture.tsx';
import { Chips, Empty, NodeLink, SearchBox } from '../parts/parts.tsx';
import type { Node } from '../state/nodes.ts';
import { type Reached, reachedFrom } from '../state/nodes.ts';
import { type Report, useReport } from '../state/report.ts';
import { show } from '../state/use-shown.ts';
import { count, counted } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

type Props = { readonly params: Readonly<Record<string, string>> };

/** What depends on a thing, or what it depends on, over any number of hops. */
export function WhereUsedView({ params }: Props) {
  const report = useReport();
  const { q = '', id = '' } = params;
  const node = report.numbers.get(id);
  return (
    <div class="view">
      <h2>Where used</h2>
      {report.nodes.length === 0 ? (
        <Empty command="platform-sync snapshot calculations">
          What uses what is known from snapshots of calculations and cards. None was published yet.
        </Empty>
      ) : (
        <>
          <search class="tools">
            <SearchBox
              label="Search datasets, calculations and cards"
              value={q}
              onValue={(value) => show({ view: 'where-used', params: { q: value, id } }, { replace: true })}
            />
          </search>
          <Found q={q} report={report} />
          {q.trim() === '' && id === '' && <MostUsed report={report} />}
          {id !== '' && node === undefined && (
            <p class="notice">
              <Text of={id} /> is not in this report.
            </p>
          )}
          {node !== undefined && <Impact node={node} report={report} params={params} />}
        </>
      )}
    </div>
  );
}

const MOST_FOUND = 10;

type Match = { readonly node: Node; readonly words: string };

/** Things, each with a word or two. */
const Matches = ({ of }: { readonly of: readonly Match[] }) => (
  <ul class="matches">
    {of.map(({ node, words }) => (
      <li key={`${node.kind} ${node.id}`}>
        <NodeLink {...node} /> <span class="quiet-line">{words}</span>
      </li>
    ))}
  </ul>
);

function Found({ q, report: { nodes } }: { readonly q: string; readonly report: Report }) {
  const texts = useMemo(
    () => nodes.map(({ kind, id, name }) => `${name} ${kind} ${id}`.toLowerCase()),
    [nodes],
  );
  const found = useMemo(() => (q.trim() === '' ? [] : matching(texts, q, () => true)), [texts, q]);
  const of = found.slice(0, MOST_FOUND).flatMap((number) => {
    const node = nodes[number];
    return node === undefined ? [] : { node, words: `${node.kind} ${node.id}` };
  });
  return (
    <>
      <p class="found" role="status">
        {q.trim() !== '' &&
          `${found.length === 0 ? 'Nothing matches' : counted(found.length, 'thing matches', 'things match')}${found.length > MOST_FOUND ? `, the first ${MOST_FOUND}` : ''}`}
      </p>
      {of.length > 0 && <Matches of={of} />}
    </>
  );
}

const kinds = ['dataset', 'calculation', 'card'] as const;

function mostUsed(kind: (typeof kinds)[number], { nodes, graph: { users } }: Report): readonly Match[] {
  const usersOf = (node: number) => (users.starts[node + 1] ?? 0) - (users.starts[node] ?? 0);
  return nodes
    .flatMap((node, number) => (node.kind === kind ? [{ node, users: usersOf(number) }] : []))
    .filter((each) => each.users > 0)
    .toSorted((a, b) => b.users - a.users)
    .slice(0, MOST_FOUND)
    .map((each) => ({ node: each.node, words: `by ${count(each.users)}` }));
}

/** Where nobody has asked yet: of each kind, what most things use directly. */
function MostUsed({ report }: { readonly report: Report }) {
  const most = useMemo(() => kinds.map((kind) => ({ kind, found: mostUsed(kind, report) })), [report]);
  return (
    <div class="panels">
      {most
        .filter(({ found }) => found.length > 0)
        .map(({ kind, found }) => (
          <section key={kind} aria-label={`The most used ${kind}s`}>
            <h3>The most used {kind}s</h3>
            <Matches of={found} />
          </section>
        ))}
    </div>
  );
}

type ImpactProps = Props & { readonly node: number; readonly report: Report };

function Impact({ node, report, params }: ImpactProps) {
  const direction = params['way'] === 'uses' ? 'used' : 'users';
  const reached = useMemo(() => reachedFrom(report.graph[direction], node), [report, direction, node]);
  const of = report.nodes[node];
  if (of === undefined) return null;
  const found = reached.map((each) => report.nodes[each.node]);
  return (
    <article class="impact">
      <h3>
        <span class={`kind kind-${of.kind}`}>{of.kind}</span> <Text of={of.name === '' ? of.id : of.name} />
      </h3>
      <p class="quiet-line">
        {of.name !== '' && <>Id {of.id}. </>}
        {!of.isKnown && 'No snapshot holds it: it was deleted, or the token may not see it.'}
      </p>
      <BrokenLinks node={node} report={report} />
      <Chips
        legend="Show"
        chips={[
          { name: 'users', label: 'what uses it' },
          { name: 'used', label: 'what it uses' },
        ]}
        isPressed={(way) => way === direction}
        onPress={(way) =>
          show({ view: 'where-used', params: { ...params, way: way === 'used' ? 'uses' : '' } })
        }
      />
      <p class="lead" role="status">
        {impactWords(found, direction)}
      </p>
      {reached.length > 0 && (
        <>
          <LayersPicture start={node} reached={reached} report={report} direction={direction} />
          <ReachedTable key={`${node} ${direction}`} {...{ reached, report, direction }} />
        </>
      )}
    </article>
  );
}

type ReachedProps = {
  readonly reached: readonly Reached[];
  readonly report: Report;
  readonly direction: 'users' | 'used';
};

/** Everything that was reached, as a list that is sorted by any of its columns. */
function ReachedTable({ reached, report, direction }: ReachedProps) {
  const [sort, setSort] = useState<Sort>(parseSort('hop'));
  const [page, setPage] = useState(1);
  const columns = useMemo(() => columnsOf({ reached, report, direction }), [reached]);
  const rows = useMemo(() => reached.map((_, row) => row), [reached]);
  return (
    <Table
      label="what was found"
      caption={direction === 'users' ? 'What uses it' : 'What it uses'}
      {...{ columns, rows, sort, page }}
      onSort={setSort}
      onPage={setPage}
    />
  );
}

function columnsOf({ reached, report: { nodes, facts }, direction }: ReachedProps): readonly Column[] {
  const { user, used, relation } = facts.graph;
  const isUsers = direction === 'users';
  const found = reached.map(({ node }) => nodes[node]);
  const before = reached.map(({ edge }) => nodes[(isUsers ? used : user)[edge] ?? -1]);
  const how = reached.map(({ edge }) => relations[relation[edge] ?? -1]);
  const hops = reached.map(({ hop }) => hop);
  const texts = (of: readonly unknown[]) => columnKinds.text(of);
  return [
    { name: 'name', label: 'Name', ...columnKinds.node(found), isHeading: true },
    { name: 'kind', label: 'Kind', ...texts(found.map((node) => node?.kind)) },
    { name: 'relation', label: isUsers ? 'How' : 'How it is used', ...texts(how) },
    { name: 'via', label: isUsers ? 'What' : 'By what', ...columnKinds.node(before) },
    { name: 'hop', label: 'Hops', ...columnKinds.number(hops) },
    { name: 'id', label: 'Id', ...texts(found.map((node) => node?.id)) },
  ];
}

/** The broken links that a node has, or that lead to it. */
function BrokenLinks({ node, report: { facts, nodes, graph } }: Omit<ImpactProps, 'params'>) {
  const { user, used, relation } = facts.graph;
  const broken = graph.broken.filter(({ edge }) => user[edge] === node || used[edge] === node);
  if (broken.length === 0) return null;
  return (
    <div class="notice">
      <p>
        <strong>{counted(broken.length, 'reference is broken', 'references are broken')}</strong>
      </p>
      <ul>
        {broken.slice(0, 20).map(({ edge, valid }) => {
          const [from, to] = [nodes[user[edge] ?? -1], nodes[used[edge] ?? -1]];
          if (from === undefined || to === undefined) return null;
          return (
            <li key={edge}>
              {from.kind} <NodeLink {...from} /> {relations[relation[edge] ?? -1]} {to.kind}{' '}
              <NodeLink {...to} />: <Text of={valid} />
            </li>
          );
        })}
      </ul>
      {broken.length > 20 && <p>And {count(broken.length - 20)} more.</p>}
    </div>
  );
}

/** What would happen if it were deleted, or what it stands on. */
function impactWords(nodes: readonly (Node | undefined)[], direction: 'users' | 'used'): string {
  const parts = kinds.flatMap((kind) => {
    const many = nodes.filter((each) => each?.kind === kind).length;
    return many === 0 ? [] : counted(many, kind);
  });
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('');
  if (direction === 'used') return list === '' ? 'It uses nothing that is known.' : `It stands on ${list}.`;
  return list === ''
    ? 'Nothing uses it: deleting it would break nothing that is known.'
    : `If it were deleted, ${list} would break.`;
}
