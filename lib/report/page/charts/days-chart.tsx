import * as Plot from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import type { BatchFacts } from '../../facts.ts';
import { share } from '../text/numbers.ts';
import { Chart } from './chart.tsx';
import { colours } from './colours.ts';
import { NumbersTable } from './numbers-table.tsx';
import { sentimentNames, sentiments, sumOf } from './sentiments-bar.tsx';

type OverTime = NonNullable<BatchFacts['overTime']>;

/** The sentiments of each day, as parts of all that it has. */
export function DaysChart({ batch, over }: { readonly batch: string; readonly over: OverTime }) {
  const plot = useMemo(() => optionsOf(over), [over]);
  const used = sentiments.filter((each) => over.days.some((day) => day.sentiments[each] > 0));
  const negative = over.days.reduce((sum, { sentiments: of }) => sum + of.negative, 0);
  const all = over.days.reduce((sum, { sentiments: of }) => sum + sumOf(of), 0);
  return (
    <Chart
      title={`${batch} by ${over.column}`}
      summary={`${share(negative, all)} are negative, over ${over.days.length} days.`}
      legend={used.map((each) => ({ name: sentimentNames[each], colour: colours[each] }))}
      plot={plot}
    >
      <NumbersTable
        caption={`Sentiments of ${batch} by day`}
        heads={['Day', ...used.map((each) => sentimentNames[each])]}
        rows={over.days.map(({ day, sentiments: of }) => [day, ...used.map((each) => of[each])])}
      />
    </Chart>
  );
}

function optionsOf({ days }: OverTime): Plot.PlotOptions {
  const bars = days.flatMap(({ day, sentiments: of }) =>
    sentiments.map((kind) => ({ day: new Date(`${day}T00:00:00Z`), kind, value: of[kind] })),
  );
  return {
    height: 200,
    marginLeft: 52,
    x: { type: 'utc', label: null },
    y: { grid: true, label: null, ticks: 4, nice: true },
    color: { domain: [...sentiments], range: sentiments.map((each) => colours[each]) },
    marks: [
      Plot.rectY(bars, { x: 'day', y: 'value', interval: 'day', fill: 'kind', order: [...sentiments] }),
      Plot.ruleY([0], { stroke: 'var(--text)' }),
    ],
  };
}
