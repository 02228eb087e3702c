import * as Plot from '@observablehq/plot';
import { createContext, type RefObject } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Legend, type Numbers, NumbersTable, Scrolled } from '../parts/parts.tsx';

/** Of Okabe and Ito, darker or lighter by the theme; `page.css` has them. */
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
  /** What the picture says, for whoever does not see it. */
  readonly summary: string;
  readonly legend?: readonly { readonly name: string; readonly colour: string }[];
  /** What it shows: another one draws it again. */
  readonly of: unknown;
  readonly plot: () => Plot.PlotOptions;
  readonly numbers: Numbers;
  /** Of the line's width. Default 1. */
  readonly part?: number;
};

/** Of a panel, on both sides, in pixels. */
const PADDING = 44;

/** A picture by Observable Plot, with its legend, and its numbers as a table that can be opened. */
export function Chart({ title, summary, legend = [], of, plot, numbers, part = 1 }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const whole = useContext(WidthContext);
  const width = Math.max(260, whole < 700 ? whole - PADDING : Math.floor(whole * part) - PADDING);
  useLayoutEffect(() => {
    const { marks = [], y, ...options } = plot();
    const drawn = Plot.plot({
      ...{ marginTop: 12, marginRight: 2, marginLeft: 52 },
      ...options,
      y: { grid: true, label: null, ticks: 4, nice: true, ...y },
      marks: [...marks, Plot.ruleY([0], { stroke: 'var(--text)' })],
      width,
    });
    drawn.setAttribute('role', 'img');
    drawn.setAttribute('aria-label', `${title}. ${summary}`);
    // Names of the parts of a picture, which is one thing to whoever does not see it.
    for (const part of drawn.querySelectorAll('[aria-label], [aria-description]')) {
      part.removeAttribute('aria-label');
      part.removeAttribute('aria-description');
    }
    place.current?.replaceChildren(drawn);
  }, [of, width]);
  return (
    <figure class="panel chart">
      <figcaption>
        <h4>{title}</h4>
        {legend.length > 0 && <Legend of={legend} />}
      </figcaption>
      <div ref={place} class="drawn" />
      <details class="numbers">
        <summary>
          The numbers<span class="quiet"> of {title}</span>
        </summary>
        <Scrolled label={`Numbers of ${title}`}>
          <NumbersTable {...numbers} />
        </Scrolled>
      </details>
    </figure>
  );
}

/** The width in pixels that charts have for the whole of a line. */
export const WidthContext = createContext(800);

/** The width of an element, in steps of 20 px, so that a chart is not drawn again for each pixel. */
export function useWidth(of: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800);
  useEffect(() => {
    const element = of.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0)
        setWidth(Math.max(260, Math.floor(entry.contentRect.width / 20) * 20));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
