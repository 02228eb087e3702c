import { createContext, type RefObject } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/** The width in pixels that charts have for the whole of a line. */
export const WidthContext = createContext(800);

export const useChartWidth = (): number => useContext(WidthContext);

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
