import { useEffect, useState } from 'preact/hooks';

const THEMES = ['auto', 'light', 'dark'] as const;

type Theme = (typeof THEMES)[number];

const names: Readonly<Record<Theme, string>> = { auto: 'As the system', light: 'Light', dark: 'Dark' };

const KEY = 'platform-report-theme';

/** Switches between the system's colours, light and dark, and remembers it where the browser lets a file do so. */
export function ThemeButton() {
  const [theme, setTheme] = useState(remembered);
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // It holds for this visit then.
    }
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  return (
    <button type="button" class="theme" onClick={() => setTheme(next)}>
      <span class="quiet">Colours: </span>
      {names[theme]}
    </button>
  );
}

function remembered(): Theme {
  try {
    return THEMES.find((each) => each === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}
