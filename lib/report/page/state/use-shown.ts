import { useEffect, useState } from 'preact/hooks';
import { parseHash, printHash, type Shown } from './hash.ts';

/** What the address says is shown, also after it has changed. */
export function useShown(): Shown {
  const [shown, setShown] = useState(() => parseHash(location.hash));
  useEffect(() => {
    const read = () => setShown(parseHash(location.hash));
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);
  return shown;
}

/** Shows something else. `replace`: without an entry in the history, for what changes with each key. */
export function show(shown: Shown, { replace = false } = {}): void {
  const hash = printHash(shown);
  if (hash === location.hash) return;
  if (replace) location.replace(hash);
  else location.hash = hash;
}
