import { useMemo } from 'preact/hooks';
import { hashOf } from '../state/hash.ts';
import { type Direction, nodeKey, type Reached, useReport } from '../state/report.ts';
import { count } from '../text/numbers.ts';
import { readable, shortened } from '../text/shown.ts';
import { BOX_HEIGHT, BOX_WIDTH, type Box, type Line, layersOf } from './layers.ts';
import { Scrolled } from './parts.tsx';

/** What was reached, in a column for each hop. Each box links to its thing. */
export function LayersPicture({
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

function curve({ from, to }: Line): string {
  const x1 = from.x + BOX_WIDTH;
  const y1 = from.y + BOX_HEIGHT / 2;
  const x2 = to.x;
  const y2 = to.y + BOX_HEIGHT / 2;
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function BoxOf({ box, isStart }: { readonly box: Box; readonly isStart: boolean }) {
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
