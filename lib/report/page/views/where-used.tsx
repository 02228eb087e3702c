import { useMemo, useState } from 'preact/hooks';
import { numbers, texts, things } from '../lists/lists.tsx';
import { matching } from '../lists/rows.ts';
import { type Column, Table } from '../lists/table.tsx';
import { BOX_HEIGHT, BOX_WIDTH, layersOf } from '../parts/layers.ts';
import { Chips, Empty, NodeLink, PlatformLink, Scrolled, SearchBox } from '../parts/parts.tsx';
import { hashOf, type Params, show } from '../state/hash.ts';
import {
  type Direction,
  nodeKey,
  type Reached,
  type Report,
  reachedFrom,
  useReport,
} from '../state/report.ts';
import { count, counted } from '../text/numbers.ts';
import { readable, shortened } from '../text/shown.ts';
import { Text, withLines } from '../text/text.tsx';

type Node = Report['nodes'][number];

/** Shows what depends on a thing, or what it depends on, over any number of hops. */
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
          Uses are known from snapshots of calculations and cards. None has been published yet.
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
          {id !== '' && node === undefined && (
            <p class="notice">
              <Text of={id} /> is not in this report.
            </p>
          )}
          {number !== undefined && node !== undefined && (
            <Impact number={number} node={node} params={params} />
          )}
        </>
      )}
    </>
  );
}

const MAX_FOUND = 10;

function Found({ q }: { readonly q: string }) {
  const { nodes } = useReport();
  const texts = useMemo(
    () => nodes.map(({ kind, id, name }) => `${name} ${kind} ${id}`.toLowerCase()),
    [nodes],
  );
  const found = useMemo(() => (q.trim() === '' ? [] : matching(texts, q)), [texts, q]);
  const first = found.slice(0, MAX_FOUND).flatMap((number) => nodes[number] ?? []);
  return (
    <>
      <p class="found" role="status">
        {q.trim() !== '' &&
          `${found.length === 0 ? 'Nothing matches' : counted(found.length, 'thing matches', 'things match')}${found.length > MAX_FOUND ? `, the first ${MAX_FOUND}` : ''}`}
      </p>
      {first.length > 0 && (
        <ul class="matches">
          {first.map((node) => (
            <li key={nodeKey(node)}>
              <NodeLink {...node} />{' '}
              <span class="quiet-line">
                {node.kind} {node.id}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

type ImpactProps = { readonly number: number; readonly node: Node; readonly params: Params };

function Impact({ number, node, params }: ImpactProps) {
  const { kind, id, name, isKnown } = node;
  const { edges, nodes } = useReport();
  const direction: Direction = params['way'] === 'uses' ? 'used' : 'users';
  const reached = useMemo(() => reachedFrom(edges[direction], number), [edges, direction, number]);
  return (
    <article class="impact">
      <h3>
        <span class={`kind kind-${kind}`}>{kind}</span> <Text of={name === '' ? id : name} />
        <PlatformLink kind={kind} id={id} name={name} />
      </h3>
      <p class="quiet-line">
        {name !== '' && <>Id {id}. </>}
        {!isKnown && 'No snapshot contains it: it was deleted, or the token may not see it.'}
      </p>
      <BrokenLinks number={number} node={node} />
      {kind === 'calculation' && <Formula id={id} />}
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
          <ReachedTable key={`${number} ${direction}`} reached={reached} direction={direction} />
        </>
      )}
    </article>
  );
}

/** The formula of a calculation, and the columns that it reads. */
function Formula({ id }: { readonly id: string }) {
  const { facts, formulas } = useReport();
  const { total, list } = facts.knownFormulas;
  const found = formulas.get(id);
  if (found === undefined && total === list.length) return null;
  if (found === undefined)
    return (
      <p class="quiet-line">
        The report has {count(list.length)} of {count(total)} known formulas;{' '}
        <code>platform-sync where-used {id}</code> shows the others.
      </p>
    );
  return (
    <section class="formula">
      <h4>Formula</h4>
      <pre class="diff">
        <bdi>{withLines(found.expression)}</bdi>
      </pre>
      <p class="quiet-line">
        {found.columns.length === 0 ? 'No columns.' : 'Columns: '}
        {found.columns.map((column, at) => (
          <>
            {at > 0 && ', '}
            <Text of={column} />
          </>
        ))}
      </p>
    </section>
  );
}

/** A table of all things that were reached, which can be sorted. */
function ReachedTable({
  reached,
  direction,
}: {
  readonly reached: readonly Reached[];
  readonly direction: Direction;
}) {
  const report = useReport();
  const [sort, setSort] = useState('hop');
  const [page, setPage] = useState(1);
  const columns = useMemo(() => columnsOf(reached, direction, report), [reached]);
  const rows = useMemo(() => reached.map((_, row) => row), [reached]);
  return (
    <Table
      label="what was found"
      caption={direction === 'users' ? 'What uses it' : 'What it uses'}
      columns={columns}
      rows={rows}
      sort={sort}
      page={page}
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
  return [
    { name: 'name', label: 'Name', ...things((row) => found[row]) },
    { name: 'kind', label: 'Kind', ...texts(found.map((node) => node?.kind)) },
    {
      name: 'relation',
      label: isUsers ? 'How' : 'How it is used',
      ...texts(edges.map(({ relation }) => relation)),
    },
    { name: 'via', label: isUsers ? 'What' : 'By what', ...things((row) => before[row]) },
    { name: 'hop', label: 'Hops', ...numbers(reached.map(({ hop }) => hop)) },
    { name: 'id', label: 'Id', ...texts(found.map((node) => node?.id)) },
  ];
}

/** The number of broken links from or to a node, as a link to their list. */
function BrokenLinks({ number, node: { id, name } }: Omit<ImpactProps, 'params'>) {
  const { invalid, user, used } = useReport().facts.graph;
  const broken = invalid.filter(([edge]) => user[edge] === number || used[edge] === number).length;
  if (broken === 0) return null;
  return (
    <p class="notice">
      <a href={hashOf('broken', { q: `${name} ${id}`.trim() })}>
        {counted(broken, 'reference is broken', 'references are broken')}
      </a>
    </p>
  );
}

const kinds = ['dataset', 'calculation', 'card'] as const;

/** A sentence that says what would break if the thing were deleted, or what it depends on. */
function impactWords(nodes: readonly (Node | undefined)[], direction: Direction): string {
  const parts = kinds.flatMap((kind) => {
    const many = nodes.filter((each) => each?.kind === kind).length;
    return many === 0 ? [] : counted(many, kind);
  });
  const list = parts.length > 1 ? `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}` : parts.join('');
  if (direction === 'used')
    return list === '' ? 'It depends on nothing that is known.' : `It depends on ${list}.`;
  return list === ''
    ? 'Nothing uses it: deleting it would break nothing that is known.'
    : `If it were deleted, ${list} would break.`;
}

/** A drawing of the things that were reached, with a column for each hop. Each box links to its thing. */
function LayersPicture({
  start,
  reached,
  direction,
}: {
  readonly start: number;
  readonly reached: readonly Reached[];
  readonly direction: Direction;
}) {
  const { user, used } = useReport().facts.graph;
  const ends = direction === 'users' ? used : user;
  const layers = useMemo(
    () => layersOf(start, reached, ({ edge }) => ends[edge] ?? start),
    [start, reached, ends],
  );
  const { boxes, lines, width, height } = layers;
  return (
    <Scrolled label="Picture by hops" kind="picture">
      {/* biome-ignore lint/a11y/useSemanticElements: a picture has no fieldset */}
      <svg
        width={width + 4}
        height={height + 4}
        viewBox={`-2 -2 ${width + 4} ${height + 4}`}
        role="group"
        aria-label={`${count(reached.length)} things in ${count(reached.at(-1)?.hop ?? 0)} hops; the table below has them all`}
      >
        <g class="edges">
          {lines.map((line) => (
            <path key={`${line.from.x} ${line.from.y} ${line.to.x} ${line.to.y}`} d={curve(line)} />
          ))}
        </g>
        {boxes.map((box) => (
          <BoxOf key={`${box.x} ${box.y}`} box={box} isStart={box.node === start} />
        ))}
      </svg>
    </Scrolled>
  );
}

function curve({ from, to }: ReturnType<typeof layersOf>['lines'][number]): string {
  const x1 = from.x + BOX_WIDTH;
  const y1 = from.y + BOX_HEIGHT / 2;
  const x2 = to.x;
  const y2 = to.y + BOX_HEIGHT / 2;
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function BoxOf({
  box,
  isStart,
}: {
  readonly box: ReturnType<typeof layersOf>['boxes'][number];
  readonly isStart: boolean;
}) {
  const node = useReport().nodes[box.node ?? -1];
  const place = `translate(${box.x} ${box.y})`;
  if (node === undefined)
    return (
      <g transform={place} class="box box-more">
        <rect width={BOX_WIDTH} height={BOX_HEIGHT} rx={6} />
        <text x={BOX_WIDTH / 2} y={BOX_HEIGHT / 2 + 4} text-anchor="middle">
          +{count(box.more)} more
        </text>
      </g>
    );
  const name = readable(node.name === '' ? node.id : node.name);
  return (
    <a
      href={hashOf('where-used', { id: nodeKey(node) })}
      class={`box box-${node.kind}${isStart ? ' box-start' : ''}${node.isKnown ? '' : ' box-unknown'}`}
    >
      <g transform={place}>
        <title>{`${node.kind} ${name}`}</title>
        <rect width={BOX_WIDTH} height={BOX_HEIGHT} rx={6} />
        <rect class="box-side" width={4} height={BOX_HEIGHT} rx={2} />
        <text x={14} y={15} class="box-kind">
          {node.kind}
        </text>
        <text x={14} y={29} class="box-name">
          {shortened(name, 26)}
        </text>
      </g>
    </a>
  );
}
