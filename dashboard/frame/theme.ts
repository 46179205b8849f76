/** Light or dark: what the person chose, else what the system prefers. */
const KEY = 'agent-mailbox.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export const THEMES = ['system', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

export const isTheme = (value: unknown): value is Theme => THEMES.some((theme) => theme === value);

/** What the person chose. */
export function chosenTheme(): Theme {
  const chosen = localStorage.getItem(KEY);
  return isTheme(chosen) ? chosen : 'system';
}

function show(): void {
  const chosen = chosenTheme();
  document.documentElement.dataset['theme'] = chosen === 'system' ? (dark.matches ? 'dark' : 'light') : chosen;
}

/** Sets the theme on the document, and follows the system while nothing was chosen. */
export function applyTheme(): void {
  show();
  dark.addEventListener('change', show);
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  show();
}
