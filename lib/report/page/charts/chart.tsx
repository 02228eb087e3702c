import * as Plot from '@observablehq/plot';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Legend, NumbersTable, Scrolled } from '../parts/parts.tsx';
import { count } from '../text/numbers.ts';

/** The colours of Okabe and Ito, which `page.css` makes darker or lighter depending on the theme. */
export const colours = {
  added: 'var(--green)',
  changed: 'var(--blue)',
  removed: 'var(--vermillion)',
  positive: 'var(--green)',
  neutral: 'var(--grey)',
  negative: 'var(--vermillion)',
  not_applicable: 'var(--pale)',
  other: 'var(--purple)',
  plain: 'var(--blue)',
} as const;

type Props = {
  readonly title: string;
  /** What the chart shows, for screen readers. */
  readonly summary: string;
  /** What a bar stands for. Bars for days, weeks and months are placed on a time axis, bars for runs side by side. */
  readonly by: 'run' | 'day' | 'week' | 'month';
  /** The time of each bar, oldest first: `2026-11-22 21:04 UTC`, `2026-11-22` or `2026-11`. */
  readonly at: readonly string[];
  /** The parts of each bar, from the axis upwards; negative values are drawn downwards. */
  readonly parts: readonly {
    readonly name: string;
    readonly colour: string;
    readonly values: readonly number[];
  }[];
  /** Further columns of the table of numbers. */
  readonly more?: Readonly<Record<string, readonly ComponentChildren[]>>;
};

/** The width of a chart that is not on the screen: the width of an A4 page, in pixels. */
const PRINTED_WIDTH = 700;

/** A bar chart drawn by Observable Plot, with a legend, and a table of its numbers that can be opened. */
export function BarsChart(props: Props) {
  const { title, by, at, parts, more = {} } = props;
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = place;
    if (current === null) return;
    let width = 0;
    const draw = () => {
      const now = current.clientWidth || PRINTED_WIDTH;
      if (now !== width) current.replaceChildren(drawn({ ...props, width: now }));
      width = now;
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(current);
    return () => observer.disconnect();
  }, [JSON.stringify([title, at, parts])]);
  return (
    <figure class="panel chart">
      <figcaption>
        <h4>{title}</h4>
        {parts.length > 1 && <Legend of={parts} />}
      </figcaption>
      <div ref={place} class="drawn" />
      <details class="numbers">
        <summary>
          The numbers<span class="quiet"> of {title}</span>
        </summary>
        <Scrolled label={`Numbers of ${title}`}>
          <NumbersTable
            caption={`${title}: numbers`}
            heads={[by, ...parts.map(({ name }) => name), ...Object.keys(more)]}
            rows={at.map((when, row) => [
              when,
              ...parts.map(({ values }) => Math.abs(values[row] ?? 0)),
              ...Object.values(more).map((values) => values[row]),
            ])}
          />
        </Scrolled>
      </details>
    </figure>
  );
}

function drawn({ title, summary, width, ...props }: Props & { readonly width: number }) {
  const plot = Plot.plot({ ...plotOf(props), width });
  plot.setAttribute('role', 'img');
  plot.setAttribute('aria-label', `${title}. ${summary}`);
  // For a screen reader the chart is one image, so its parts need no names.
  for (const named of plot.querySelectorAll('[aria-label], [aria-description]')) {
    named.removeAttribute('aria-label');
    named.removeAttribute('aria-description');
  }
  return plot;
}

function plotOf({ by, at, parts }: Pick<Props, 'by' | 'at' | 'parts'>): Plot.PlotOptions {
  const isTime = by !== 'run';
  const bars = parts.flatMap(({ name, values }) =>
    values.map((value, place) => ({ name, value, x: isTime ? new Date(at[place] ?? '') : place })),
  );
  const upTo = (place: number) => parts.reduce((sum, { values }) => sum + Math.max(0, values[place] ?? 0), 0);
  const order = parts.map(({ name }) => name);
  const channels = { x: 'x', y: 'value', fill: 'name', order };
  return {
    height: 200,
    marginTop: 12,
    marginRight: 2,
    marginLeft: 52,
    x: isTime ? { type: 'utc', label: null } : { type: 'band', axis: null, paddingInner: 0.25 },
    y: {
      grid: true,
      label: null,
      nice: true,
      ticks: Math.min(4, Math.max(1, ...at.map((_, place) => upTo(place)))),
      tickFormat: (value: number) => count(Math.abs(value)),
    },
    color: { domain: order, range: parts.map(({ colour }) => colour) },
    marks: [
      isTime
        ? Plot.rectY(bars, { ...channels, interval: by === 'week' ? 'monday' : by, inset: 0.5 })
        : Plot.barY(bars, channels),
      isTime ? null : axisOf(at),
      Plot.ruleY([0], { stroke: 'var(--text)' }),
    ],
  };
}

/** The axis for runs, with the times of some of them in short form: `11-22`, or `21:04` if all are on the same day. */
function axisOf(at: readonly string[]) {
  const isOneDay = new Set(at.map((when) => when.slice(0, 10))).size === 1;
  const last = at.length - 1;
  return Plot.axisX({
    anchor: 'bottom',
    label: null,
    tickSize: 0,
    ticks: last < 7 ? [...at.keys()] : [0, Math.floor(last / 2), last],
    tickFormat: (place: number) => (isOneDay ? at[place]?.slice(11, 16) : at[place]?.slice(5, 10)),
  });
}
