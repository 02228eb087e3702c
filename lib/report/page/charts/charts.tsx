import * as Plot from '@observablehq/plot';
import type { BatchFacts, RunFacts } from '../../facts.ts';
import { count, counted, duration, share, time, timeAmong } from '../text/numbers.ts';
import { Chart, colours } from './chart.tsx';
import { sentimentLegend, sentimentNames, sentiments, sumOf } from './sentiments-bar.tsx';

type Runs = { readonly place: string; readonly history: readonly RunFacts[] };

const sumsOf = (history: readonly RunFacts[]) => (name: 'requests' | 'throttled' | 'retries' | 'waitedMs') =>
  history.reduce((total, run) => total + run[name], 0);

/** The axis of runs, with the times of some of them. */
const axisOf = (history: readonly RunFacts[], ticks: readonly number[]) =>
  Plot.axisX({
    anchor: 'bottom',
    label: null,
    tickSize: 0,
    ticks,
    tickFormat: (at: number) =>
      timeAmong(
        history.map(({ startedAt }) => startedAt),
        at,
      ),
  });

const kinds = ['added', 'changed', 'removed'] as const;

/** What changed from run to run: what came and what differs above the line, what went below it. */
export function HistoryChart({ place, history }: Runs) {
  const sums = kinds.map((kind) => `${count(history.reduce((sum, run) => sum + run[kind], 0))} ${kind}`);
  return (
    <Chart
      title={`${place}: the last ${counted(history.length, 'run')}`}
      summary={`In all ${sums.join(', ')}.`}
      legend={kinds.map((kind) => ({ name: kind, colour: colours[kind] }))}
      of={history}
      plot={() => changesPlot(history)}
      numbers={{
        caption: `Changes of ${place} by run`,
        heads: ['Run', 'Added', 'Changed', 'Removed', 'Records'],
        rows: history.map((run) => [time(run.startedAt), run.added, run.changed, run.removed, run.records]),
      }}
    />
  );
}

function changesPlot(history: readonly RunFacts[]): Plot.PlotOptions {
  const bars = history.flatMap((run, index) =>
    kinds
      .filter((kind) => run[kind] > 0)
      .map((kind) => ({ index, kind, value: kind === 'removed' ? -run[kind] : run[kind] })),
  );
  const most = Math.max(1, ...history.map(({ added, changed }) => added + changed));
  const all = history.map((_, index) => index);
  const { length } = all;
  return {
    height: 220,
    x: { type: 'band', axis: null, paddingInner: 0.25, domain: all },
    y: {
      // Where nothing changed, a line along the bottom.
      domain: [Math.min(0, ...history.map(({ removed }) => -removed)), most],
      tickFormat: (value: number) => count(Math.abs(value)),
      ticks: Math.min(5, most),
    },
    color: { domain: [...kinds], range: kinds.map((kind) => colours[kind]) },
    marks: [
      Plot.barY(bars, { x: 'index', y: 'value', fill: 'kind' }),
      axisOf(history, length < 8 ? all : [0, Math.floor((length - 1) / 2), length - 1]),
    ],
  };
}

/** The requests of each run, those that the platform throttled marked. */
export function PaceChart({ place, history }: Runs) {
  const sum = sumsOf(history);
  return (
    <Chart
      title={`${place}: requests of the last ${counted(history.length, 'run')}`}
      summary={`${count(sum('requests'))} requests, ${count(sum('throttled'))} throttled, ${count(sum('retries'))} retries; ${duration(sum('waitedMs'))} waited.`}
      legend={[
        { name: 'requests', colour: colours.plain },
        { name: 'throttled', colour: colours.removed },
      ]}
      of={history}
      plot={() => pacePlot(history)}
      part={0.5}
      numbers={{
        caption: `Requests of ${place} by run`,
        heads: ['Run', 'Requests', 'Throttled', 'Retries', 'Waited', 'Took'],
        rows: history.map(({ startedAt, finishedAt, requests, throttled, retries, waitedMs }) => [
          ...([time(startedAt), requests, throttled, retries] as const),
          ...[duration(waitedMs), duration(finishedAt - startedAt)],
        ]),
      }}
    />
  );
}

function pacePlot(history: readonly RunFacts[]): Plot.PlotOptions {
  const runs = history.map((run, index) => ({ ...run, index }));
  const most = Math.max(1, ...history.map(({ requests }) => requests));
  return {
    height: 160,
    x: { type: 'band', axis: null, paddingInner: 0.25 },
    y: { ticks: Math.min(4, most) },
    marks: [
      Plot.barY(runs, { x: 'index', y: 'requests', fill: colours.plain }),
      Plot.barY(runs, { x: 'index', y: 'throttled', fill: colours.removed }),
      axisOf(history, [0, history.length - 1]),
    ],
  };
}

type Months = {
  readonly title: string;
  /** `2026-11`, oldest first. */
  readonly months: readonly (readonly [month: string, count: number])[];
};

/** How many calculations there are of each month. */
export function MonthsChart({ title, months }: Months) {
  const most = months.reduce((best, each) => (each[1] > best[1] ? each : best), ['', 0] as const);
  const bars = months.map(([month, value]) => ({ month: new Date(`${month}-01T00:00:00Z`), value }));
  const bar = { x: 'month', y: 'value', interval: 'month', fill: colours.plain, inset: 1 } as const;
  return (
    <Chart
      title={title}
      summary={`Most in ${most[0]}: ${count(most[1])}.`}
      of={months}
      plot={() => ({ height: 180, x: { type: 'utc', label: null }, marks: [Plot.rectY(bars, bar)] })}
      numbers={{ caption: title, heads: ['Month', 'Calculations'], rows: months }}
    />
  );
}

type Days = { readonly batch: string; readonly over: NonNullable<BatchFacts['overTime']> };

/** The sentiments of each day, as parts of all that it has. */
export function DaysChart({ batch, over: { column, days } }: Days) {
  const used = sentiments.filter((each) => days.some((day) => day.sentiments[each] > 0));
  const negative = days.reduce((sum, { sentiments: of }) => sum + of.negative, 0);
  const all = days.reduce((sum, { sentiments: of }) => sum + sumOf(of), 0);
  return (
    <Chart
      title={`${batch} by ${column}`}
      summary={`${share(negative, all)} are negative, over ${days.length} days.`}
      legend={sentimentLegend(used)}
      of={days}
      plot={() => daysPlot(days)}
      numbers={{
        caption: `Sentiments of ${batch} by day`,
        heads: ['Day', ...used.map((each) => sentimentNames[each])],
        rows: days.map(({ day, sentiments: of }) => [day, ...used.map((each) => of[each])]),
      }}
    />
  );
}

function daysPlot(days: Days['over']['days']): Plot.PlotOptions {
  const bars = days.flatMap(({ day, sentiments: of }) =>
    sentiments.map((kind) => ({ day: new Date(`${day}T00:00:00Z`), kind, value: of[kind] })),
  );
  return {
    height: 200,
    x: { type: 'utc', label: null },
    color: { domain: [...sentiments], range: sentiments.map((each) => colours[each]) },
    marks: [
      Plot.rectY(bars, { x: 'day', y: 'value', interval: 'day', fill: 'kind', order: [...sentiments] }),
    ],
  };
}
