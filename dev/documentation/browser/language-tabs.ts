/**
 * Makes tabs of the languages of a snippet (WAI-ARIA Authoring Practices, tabs with automatic activation). The chosen
 * language is shown on all pages, where there is one.
 */
const KEY = 'agent-mailbox.docs.language';

interface Tabs {
  choose(language: string): boolean;
}

let count = 0;

function makeTabs(snippets: HTMLElement, onChoose: (language: string) => void): Tabs {
  const panels = [...snippets.querySelectorAll<HTMLElement>(':scope > section')];
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  const tabs = panels.map((panel) => {
    const id = `tab-${++count}`;
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = id;
    tab.textContent = panel.dataset['language'] ?? '';
    tab.setAttribute('role', 'tab');
    tab.setAttribute('aria-controls', `${id}-panel`);
    panel.id = `${id}-panel`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', id);
    panel.querySelector('h4')?.remove();
    tab.addEventListener('click', () => onChoose(tab.textContent ?? ''));
    return tab;
  });
  const show = (index: number): void => {
    for (const [i, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    }
    for (const [i, panel] of panels.entries()) panel.hidden = i !== index;
  };
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex((tab) => tab === document.activeElement);
    const next = step === undefined || at < 0 ? undefined : tabs.at((at + step) % tabs.length);
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.textContent ?? '');
    next.focus();
  });
  list.append(...tabs);
  snippets.prepend(list);
  show(0);
  return {
    choose(language) {
      const index = panels.findIndex((panel) => panel.dataset['language'] === language);
      if (index >= 0) show(index);
      return index >= 0;
    },
  };
}

export function addLanguageTabs(): void {
  const all: { tabs: Tabs; element: HTMLElement }[] = [];
  const choose = (language: string) => {
    localStorage.setItem(KEY, language);
    // The others change height: what the reader looks at stays where it is.
    const focused = document.activeElement;
    const before = focused?.getBoundingClientRect().top ?? 0;
    for (const { tabs } of all) tabs.choose(language);
    scrollBy({ top: (focused?.getBoundingClientRect().top ?? 0) - before, behavior: 'instant' });
  };
  for (const element of document.querySelectorAll<HTMLElement>('.snippets'))
    all.push({ element, tabs: makeTabs(element, choose) });
  const chosen = localStorage.getItem(KEY);
  if (chosen !== null) for (const { tabs } of all) tabs.choose(chosen);
}
