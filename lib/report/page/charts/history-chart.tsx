import * as Plot from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import type { RunFacts } from '../../facts.ts';
import { count, counted, time, timeAmong } from '../text/numbers.ts';
import { Chart } from './chart.tsx';
import { colours } from './colours.ts';
import { NumbersTable } from './numbers-table.tsx';

const kinds = ['added', 'changed', 'removed'] as const;

/** What changed from run to run: what came and what differs above the line, what went below it. */
export function HistoryChart({
  place,
  history,
}: {
  readonly place: string;
  readonly history: readonly RunFacts[];
}) {
  const plot = useMemo(() => optionsOf(history), [history]);
  const sums = kinds.map((kind) => `${count(history.reduce((sum, run) => sum + run[kind], 0))} ${kind}`);
  return (
    <Chart
      title={`${place}: the last ${counted(history.length, 'run')}`}
      summary={`In all ${sums.join(', ')}.`}
      legend={kinds.map((kind) => ({ name: kind, colour: colours[kind] }))}
      plot={plot}
    >
      <NumbersTable
        caption={`Changes of ${place} by run`}
        heads={['Run', 'Added', 'Changed', 'Removed', 'Records']}
        rows={history.map(({ startedAt, added, changed, removed, records }) => [
          time(startedAt),
          added,
          changed,
          removed,
          records,
        ])}
      />
    </Chart>
  );
}

function optionsOf(history: readonly RunFacts[]): Plot.PlotOptions {
  const bars = history.flatMap((run, index) =>
    kinds
      .filter((kind) => run[kind] > 0)
      .map((kind) => ({ index, kind, value: kind === 'removed' ? -run[kind] : run[kind] })),
  );
  const most = Math.max(1, ...history.map(({ added, changed }) => added + changed));
  const starts = history.map(({ startedAt }) => startedAt);
  return {
    height: 220,
    marginLeft: 52,
    x: { type: 'band', axis: null, paddingInner: 0.25, domain: history.map((_, index) => index) },
    y: {
      grid: true,
      label: null,
      // Where nothing changed, a line along the bottom.
      domain: [Math.min(0, ...history.map(({ removed }) => -removed)), most],
      tickFormat: (value: number) => count(Math.abs(value)),
      ticks: Math.min(5, most),
      nice: true,
    },
    color: { domain: [...kinds], range: kinds.map((kind) => colours[kind]) },
    marks: [
      Plot.barY(bars, { x: 'index', y: 'value', fill: 'kind' }),
      Plot.ruleY([0], { stroke: 'var(--text)' }),
      Plot.axisX({
        anchor: 'bottom',
        label: null,
        tickSize: 0,
        ticks: ends(history.length),
        tickFormat: (index: number) => timeAmong(starts, index),
      }),
    ],
  };
}

/** The first, the middle and the last position of so many. */
const ends = (length: number): readonly number[] =>
  length < 8 ? Array.from({ length }, (_, index) => index) : [0, Math.floor((length - 1) / 2), length - 1];
