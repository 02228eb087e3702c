import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Whether the page is being printed. If so, a view shows all entries instead of one page of them. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches);
  useEffect(() => {
    const media = matchMedia('print');
    const changed = () => atOnce(() => setPrinting(media.matches));
    const began = () => atOnce(() => setPrinting(true));
    const ended = () => setPrinting(false);
    media.addEventListener('change', changed);
    addEventListener('beforeprint', began);
    addEventListener('afterprint', ended);
    return () => {
      media.removeEventListener('change', changed);
      removeEventListener('beforeprint', began);
      removeEventListener('afterprint', ended);
    };
  }, []);
  return isPrinting;
}

/** Renders a change synchronously, since printing starts as soon as the event has been handled. */
function atOnce(change: () => void): void {
  const { debounceRendering: before } = options;
  options.debounceRendering = (render) => render();
  change();
  if (before === undefined) delete options.debounceRendering;
  else options.debounceRendering = before;
}
