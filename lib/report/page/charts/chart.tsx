import * as Plot from '@observablehq/plot';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Scrolled } from '../parts/scrolled.tsx';
import { useChartWidth } from './use-width.ts';

type Props = {
  readonly title: string;
  /** What the picture says, for whoever does not see it. */
  readonly summary: string;
  readonly legend?: readonly { readonly name: string; readonly colour: string }[];
  /** The chart of a width in pixels. A new function draws it again. */
  readonly plot: Plot.PlotOptions;
  /** The numbers, as a table. */
  readonly children: preact.ComponentChildren;
  /** Of the line's width. Default 1. */
  readonly part?: number;
};

/** Of a panel, on both sides, in pixels. */
const PADDING = 44;

/** A picture by Observable Plot, with its legend, and its numbers as a table that can be opened. */
export function Chart({ title, summary, legend = [], plot, children, part = 1 }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const whole = useChartWidth();
  const width = Math.max(260, whole < 700 ? whole - PADDING : Math.floor(whole * part) - PADDING);
  useLayoutEffect(() => {
    const drawn = Plot.plot({ marginTop: 12, marginRight: 2, ...plot, width });
    drawn.setAttribute('role', 'img');
    drawn.setAttribute('aria-label', `${title}. ${summary}`);
    // Names of the parts of a picture, which is one thing to whoever does not see it.
    for (const part of drawn.querySelectorAll('[aria-label], [aria-description]')) {
      part.removeAttribute('aria-label');
      part.removeAttribute('aria-description');
    }
    place.current?.replaceChildren(drawn);
  }, [plot, width]);
  return (
    <figure class="panel chart">
      <figcaption>
        <h4>{title}</h4>
        {legend.length > 0 && (
          <ul class="legend">
            {legend.map(({ name, colour }) => (
              <li key={name}>
                <span class="swatch" style={{ background: colour }} aria-hidden="true" />
                {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div ref={place} class="drawn" />
      <details class="numbers">
        <summary>
          The numbers<span class="quiet"> of {title}</span>
        </summary>
        <Scrolled label={`Numbers of ${title}`}>{children}</Scrolled>
      </details>
    </figure>
  );
}
