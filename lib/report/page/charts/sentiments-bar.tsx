import type { Sentiments } from '../../facts.ts';
import { count, share } from '../text/numbers.ts';
import { colours } from './chart.tsx';

export const sentiments = ['positive', 'neutral', 'negative', 'not_applicable', 'other'] as const;

export const sentimentNames: Readonly<Record<(typeof sentiments)[number], string>> = {
  positive: 'positive',
  neutral: 'neutral',
  negative: 'negative',
  not_applicable: 'not applicable',
  other: 'other',
};

export const sentimentLegend = (of: readonly (typeof sentiments)[number][]) =>
  of.map((each) => ({ name: sentimentNames[each], colour: colours[each] }));

/** How many have any sentiment. */
export const sumOf = (of: Sentiments): number => sentiments.reduce((sum, each) => sum + of[each], 0);

/** The shares of the sentiments as one bar of parts. Its numbers stand beside it. */
export function SentimentsBar({ of }: { readonly of: Sentiments }) {
  const total = sumOf(of);
  return (
    <span class="stack" aria-hidden="true">
      {sentiments.map((each) =>
        of[each] === 0 ? null : (
          <span
            key={each}
            title={`${sentimentNames[each]}: ${count(of[each])}, ${share(of[each], total)}`}
            style={{ inlineSize: `${(100 * of[each]) / total}%`, background: colours[each] }}
          />
        ),
      )}
    </span>
  );
}
