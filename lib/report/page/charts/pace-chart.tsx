import * as Plot from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import type { RunFacts } from '../../facts.ts';
import { count, counted, duration, time, timeAmong } from '../text/numbers.ts';
import { Chart } from './chart.tsx';
import { colours } from './colours.ts';
import { NumbersTable } from './numbers-table.tsx';

/** The requests of each run, those that the platform throttled marked. */
export function PaceChart({
  place,
  history,
}: {
  readonly place: string;
  readonly history: readonly RunFacts[];
}) {
  const plot = useMemo(() => optionsOf(history), [history]);
  const sum = (name: 'requests' | 'throttled' | 'retries' | 'waitedMs') =>
    history.reduce((total, run) => total + run[name], 0);
  const waited = duration(sum('waitedMs'));
  return (
    <Chart
      title={`${place}: requests of the last ${counted(history.length, 'run')}`}
      summary={`${count(sum('requests'))} requests, ${count(sum('throttled'))} throttled, ${count(sum('retries'))} retries; ${waited} waited.`}
      legend={[
        { name: 'requests', colour: colours.plain },
        { name: 'throttled', colour: colours.removed },
      ]}
      plot={plot}
      part={0.5}
    >
      <NumbersTable
        caption={`Requests of ${place} by run`}
        heads={['Run', 'Requests', 'Throttled', 'Retries', 'Waited', 'Took']}
        rows={history.map(({ startedAt, finishedAt, requests, throttled, retries, waitedMs }) => [
          time(startedAt),
          requests,
          throttled,
          retries,
          duration(waitedMs),
          duration(finishedAt - startedAt),
        ])}
      />
    </Chart>
  );
}

function optionsOf(history: readonly RunFacts[]): Plot.PlotOptions {
  const runs = history.map((run, index) => ({ ...run, index }));
  const starts = history.map(({ startedAt }) => startedAt);
  const most = Math.max(1, ...history.map(({ requests }) => requests));
  return {
    height: 160,
    marginLeft: 52,
    x: { type: 'band', axis: null, paddingInner: 0.25 },
    y: { grid: true, label: null, ticks: Math.min(4, most), nice: true },
    marks: [
      Plot.barY(runs, { x: 'index', y: 'requests', fill: colours.plain }),
      Plot.barY(runs, { x: 'index', y: 'throttled', fill: colours.removed }),
      Plot.ruleY([0], { stroke: 'var(--text)' }),
      Plot.axisX({
        anchor: 'bottom',
        label: null,
        tickSize: 0,
        ticks: [0, history.length - 1],
        tickFormat: (index: number) => timeAmong(starts, index),
      }),
    ],
  };
}
