import type { Dataset } from '../records/datasets.ts';
import { itemsOf, type Random } from '../records/random.ts';

/** A name like those that people choose: about a column or a well-known measure. Many calculations share one. */
export function calculationName(random: Random, dataset: Dataset | undefined, variable: boolean): string {
  if (variable) return random.pick(VARIABLES);
  if (dataset === undefined || random.chance(0.35)) return `${random.pick(MEASURES)}${random.pick(ENDINGS)}`;
  return random.pick(PATTERNS).replace('{}', random.pick(dataset.columns).name) + random.pick(ENDINGS);
}

const MEASURES = itemsOf`Margin %|Win Rate|Churn|YoY Growth|ARPU|Days Open|On-time %|Cohort|Fiscal Quarter|Is Late|Größe|
  Émissions|Año fiscal|前年比|Средний чек|🔥 Hot leads|Gross Profit|Weighted Pipeline|SLA breached?|
  Rolling 12 "months"|Tier\Band|margin %`;

const PATTERNS = itemsOf`{}|Total {}|Avg {}|{} YTD|{} by Rep|Σ {}|{} YoY %|Max {}|{} bucket|Distinct {}|{} (fixed)|
  Rank of {}|Ø {}|{} – label|合計 {}`;

const ENDINGS = ['', '', '', '', '', '', '', ' (copy)', ' v2', ' OLD', ' - DO NOT USE', ' test'] as const;

const VARIABLES = itemsOf`Target|Growth assumption|Währung|Selected Region|Discount rate|As-of date`;
