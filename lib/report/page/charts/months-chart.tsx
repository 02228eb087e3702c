import * as Plot from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import { count } from '../text/numbers.ts';
import { Chart } from './chart.tsx';
import { colours } from './colours.ts';
import { NumbersTable } from './numbers-table.tsx';

type Props = {
  readonly title: string;
  /** `2026-11`, oldest first. */
  readonly months: readonly (readonly [month: string, count: number])[];
};

/** How many there are of each month. */
export function MonthsChart({ title, months }: Props) {
  const plot = useMemo(() => optionsOf(months), [months]);
  const most = months.reduce((best, each) => (each[1] > best[1] ? each : best), ['', 0] as const);
  return (
    <Chart title={title} summary={`Most in ${most[0]}: ${count(most[1])}.`} plot={plot}>
      <NumbersTable caption={title} heads={['Month', 'Calculations']} rows={months} />
    </Chart>
  );
}

function optionsOf(months: Props['months']): Plot.PlotOptions {
  const bars = months.map(([month, value]) => ({ month: new Date(`${month}-01T00:00:00Z`), value }));
  return {
    height: 180,
    marginLeft: 52,
    x: { type: 'utc', label: null },
    y: { grid: true, label: null, ticks: 4, nice: true },
    marks: [
      Plot.rectY(bars, { x: 'month', y: 'value', interval: 'month', fill: colours.plain, inset: 1 }),
      Plot.ruleY([0], { stroke: 'var(--text)' }),
    ],
  };
}
