import { useMemo } from 'preact/hooks';
import { relations } from '../../../model/rules/index.ts';
import { matching } from '../lists/find.ts';
import { Empty } from '../parts/empty.tsx';
import { LayersPicture } from '../parts/layers-picture.tsx';
import { NodeLink } from '../parts/node-link.tsx';
import { ReachedTable } from '../parts/reached-table.tsx';
import { SearchBox } from '../parts/search-box.tsx';
import type { Node } from '../state/nodes.ts';
import { reachedFrom } from '../state/reached.ts';
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

function Found({ q, report }: { readonly q: string; readonly report: Report }) {
  const texts = useMemo(
    () => report.nodes.map(({ kind, id, name }) => `${name} ${kind} ${id}`.toLowerCase()),
    [report],
  );
  const found = useMemo(() => (q.trim() === '' ? [] : matching(texts, q, () => true)), [texts, q]);
  return (
    <>
      <p class="found" role="status">
        {q.trim() !== '' &&
          `${found.length === 0 ? 'Nothing matches' : counted(found.length, 'thing matches', 'things match')}${found.length > MOST_FOUND ? `, the first ${MOST_FOUND}` : ''}`}
      </p>
      {found.length > 0 && (
        <ul class="matches">
          {found.slice(0, MOST_FOUND).map((number) => {
            const node = report.nodes[number];
            return (
              node && (
                <li key={number}>
                  <NodeLink {...node} /> <span class="quiet-line">{`${node.kind} ${node.id}`}</span>
                </li>
              )
            );
          })}
        </ul>
      )}
    </>
  );
}

const kinds = ['dataset', 'calculation', 'card'] as const;

function mostUsed(kind: (typeof kinds)[number], { nodes, graph: { users } }: Report) {
  const usersOf = (node: number) =>
    new Set(
      Array.from(users.edges.subarray(users.starts[node], users.starts[node + 1]), (edge) => users.to[edge]),
    );
  return nodes
    .flatMap((node, number) => (node.kind === kind ? [{ node, users: usersOf(number).size }] : []))
    .filter((each) => each.users > 0)
    .toSorted((a, b) => b.users - a.users)
    .slice(0, MOST_FOUND);
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
            <ul class="matches">
              {found.map(({ node, users }) => (
                <li key={node.id}>
                  <NodeLink {...node} /> <span class="quiet-line">by {count(users)}</span>
                </li>
              ))}
            </ul>
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
  const turn = (way: string) => show({ view: 'where-used', params: { ...params, way } });
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
      <fieldset class="chips">
        <legend>Show</legend>
        <button type="button" aria-pressed={direction === 'users'} onClick={() => turn('')}>
          what uses it
        </button>
        <button type="button" aria-pressed={direction === 'used'} onClick={() => turn('uses')}>
          what it uses
        </button>
      </fieldset>
      <p class="lead" role="status">
        {impactWords(
          reached.map((each) => report.nodes[each.node]),
          direction,
        )}
      </p>
      {reached.length > 0 && (
        <>
          <LayersPicture start={node} reached={reached} report={report} direction={direction} />
          <ReachedTable
            key={`${node} ${direction}`}
            reached={reached}
            report={report}
            direction={direction}
          />
        </>
      )}
    </article>
  );
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
  const countOf = (kind: Node['kind']) => nodes.filter((each) => each?.kind === kind).length;
  const parts = (['dataset', 'calculation', 'card'] as const)
    .filter((kind) => countOf(kind) > 0)
    .map((kind) => counted(countOf(kind), kind));
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('');
  if (direction === 'used') return list === '' ? 'It uses nothing that is known.' : `It stands on ${list}.`;
  return list === ''
    ? 'Nothing uses it: deleting it would break nothing that is known.'
    : `If it were deleted, ${list} would break.`;
}
