/** Runs before the first paint: the theme that was chosen in the dashboard, else that of the system. */
{
  const chosen = localStorage.getItem('agent-mailbox.theme');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const system = dark.matches ? 'dark' : 'light';
    document.documentElement.dataset['theme'] = chosen === 'dark' || chosen === 'light' ? chosen : system;
  };
  show();
  dark.addEventListener('change', show);
}
