// Before the first paint: the theme that was chosen here or in the dashboard, else that of the system.
const chosen = localStorage.getItem('agent-mailbox.theme');
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
document.documentElement.classList.toggle('dark', isDark);
