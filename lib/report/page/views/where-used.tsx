import { useMemo, useState } from 'preact/hooks';
import { columnKinds } from '../lists/columns.tsx';
import { matching } from '../lists/find.ts';
import { type Column, Table } from '../lists/table.tsx';
import { LayersPicture } from '../parts/layers-picture.tsx';
import { Chips, Empty, NodeLink, SearchBox } from '../parts/parts.tsx';
import { type Params, show } from '../state/hash.ts';
import {
  type Direction,
  type Node,
  type Reached,
  type Report,
  reachedFrom,
  useReport,
} from '../state/report.ts';
import { count, counted } from '../text/numbers.ts';
import { Text } from '../text/text.tsx';

/** What depends on a thing, or what it depends on, over any number of hops. */
export function WhereUsedView({ params }: { readonly params: Params }) {
  const report = useReport();
  const { q = '', id = '' } = params;
  const number = report.numbers.get(id);
  const node = report.nodes[number ?? -1];
  return (
    <>
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
              onValue={(value) => show('where-used', { q: value, id }, { replace: true })}
            />
          </search>
          <Found q={q} />
          {q.trim() === '' && id === '' && <MostUsed />}
          {id !== '' && node === undefined && (
            <p class="notice">
              <Text of={id} /> is not in this report.
            </p>
          )}
          {number !== undefined && node !== undefined && <Impact {...{ number, node, params }} />}
        </>
      )}
    </>
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

function Found({ q }: { readonly q: string }) {
  const { nodes } = useReport();
  const texts = useMemo(
    () => nodes.map(({ kind, id, name }) => `${name} ${kind} ${id}`.toLowerCase()),
    [nodes],
  );
  const found = useMemo(() => (q.trim() === '' ? [] : matching(texts, q)), [texts, q]);
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

function mostUsed(kind: (typeof kinds)[number], { nodes, edges: { users } }: Report): readonly Match[] {
  const usersOf = (node: number) => (users.starts[node + 1] ?? 0) - (users.starts[node] ?? 0);
  return nodes
    .flatMap((node, number) => (node.kind === kind ? [{ node, users: usersOf(number) }] : []))
    .filter((each) => each.users > 0)
    .toSorted((a, b) => b.users - a.users)
    .slice(0, MOST_FOUND)
    .map((each) => ({ node: each.node, words: `by ${count(each.users)}` }));
}

/** Where nobody has asked yet: of each kind, what most things use directly. */
function MostUsed() {
  const report = useReport();
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

type ImpactProps = { readonly number: number; readonly node: Node; readonly params: Params };

function Impact({ number, node: { kind, id, name, isKnown }, params }: ImpactProps) {
  const { edges, nodes } = useReport();
  const direction: Direction = params['way'] === 'uses' ? 'used' : 'users';
  const reached = useMemo(() => reachedFrom(edges[direction], number), [edges, direction, number]);
  return (
    <article class="impact">
      <h3>
        <span class={`kind kind-${kind}`}>{kind}</span> <Text of={name === '' ? id : name} />
      </h3>
      <p class="quiet-line">
        {name !== '' && <>Id {id}. </>}
        {!isKnown && 'No snapshot holds it: it was deleted, or the token may not see it.'}
      </p>
      <BrokenLinks number={number} />
      <Chips
        legend="Show"
        chips={[
          { name: 'users', label: 'what uses it' },
          { name: 'used', label: 'what it uses' },
        ]}
        isPressed={(way) => way === direction}
        onPress={(way) => show('where-used', { ...params, way: way === 'used' ? 'uses' : '' })}
      />
      <p class="lead" role="status">
        {impactWords(
          reached.map((each) => nodes[each.node]),
          direction,
        )}
      </p>
      {reached.length > 0 && (
        <>
          <LayersPicture start={number} reached={reached} direction={direction} />
          <ReachedTable key={`${number} ${direction}`} {...{ reached, direction }} />
        </>
      )}
    </article>
  );
}

type ReachedProps = { readonly reached: readonly Reached[]; readonly direction: Direction };

/** Everything that was reached, as a list that is sorted by any of its columns. */
function ReachedTable({ reached, direction }: ReachedProps) {
  const report = useReport();
  const [sort, setSort] = useState('hop');
  const [page, setPage] = useState(1);
  const columns = useMemo(() => columnsOf(reached, direction, report), [reached]);
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

function columnsOf(
  reached: readonly Reached[],
  direction: Direction,
  { nodes, edgeAt }: Report,
): readonly Column[] {
  const isUsers = direction === 'users';
  const found = reached.map(({ node }) => nodes[node]);
  const edges = reached.map(({ edge }) => edgeAt(edge));
  const before = edges.map(({ user, used }) => (isUsers ? used : user));
  const texts = (of: readonly unknown[]) => columnKinds.text(of);
  return [
    { name: 'name', label: 'Name', ...columnKinds.node(found), isHeading: true },
    { name: 'kind', label: 'Kind', ...texts(found.map((node) => node?.kind)) },
    {
      ...{ name: 'relation', label: isUsers ? 'How' : 'How it is used' },
      ...texts(edges.map(({ relation }) => relation)),
    },
    { name: 'via', label: isUsers ? 'What' : 'By what', ...columnKinds.node(before) },
    { name: 'hop', label: 'Hops', ...columnKinds.number(reached.map(({ hop }) => hop)) },
    { name: 'id', label: 'Id', ...texts(found.map((node) => node?.id)) },
  ];
}

/** The broken links that a node has, or that lead to it. */
function BrokenLinks({ number }: { readonly number: number }) {
  const { facts, edgeAt } = useReport();
  const { invalid, user, used } = facts.graph;
  const broken = invalid.filter(([edge]) => user[edge] === number || used[edge] === number);
  if (broken.length === 0) return null;
  return (
    <div class="notice">
      <p>
        <strong>{counted(broken.length, 'reference is broken', 'references are broken')}</strong>
      </p>
      <ul>
        {broken.slice(0, 20).map(([edge, valid]) => {
          const { user: from, used: to, relation } = edgeAt(edge);
          return (
            from &&
            to && (
              <li key={edge}>
                {from.kind} <NodeLink {...from} /> {relation} {to.kind} <NodeLink {...to} />:{' '}
                <Text of={valid} />
              </li>
            )
          );
        })}
      </ul>
      {broken.length > 20 && <p>And {count(broken.length - 20)} more.</p>}
    </div>
  );
}

/** What would happen if it were deleted, or what it stands on. */
function impactWords(nodes: readonly (Node | undefined)[], direction: Direction): string {
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
