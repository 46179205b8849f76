/** The default theme, with the address of this service in the snippets and one choice of language for all of them. */
import { onContentUpdated } from 'vitepress';
import Theme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import './style.css';

const BUILT_WITH = 'http://127.0.0.1:8080';
const COPIED_SHOWN_MS = 1_500;
const LANGUAGE = 'agent-mailbox.docs.language';

function showServiceAddress(): void {
  for (const code of document.querySelectorAll('pre code'))
    if (location.origin !== BUILT_WITH && code.textContent?.includes(BUILT_WITH) === true)
      code.textContent = code.textContent.replaceAll(BUILT_WITH, location.origin);
}

function showLanguage(): void {
  const chosen = localStorage.getItem(LANGUAGE);
  for (const tab of document.querySelectorAll<HTMLElement>('.vp-code-group label'))
    if (tab.textContent === chosen && tab.previousElementSibling?.matches(':checked') === false) tab.click();
}

/** Others change height: what the reader looks at stays where it is. */
function chooseLanguage({ target, isTrusted }: Event): void {
  if (!isTrusted || !(target instanceof HTMLElement) || !target.matches('.vp-code-group input')) return;
  const before = target.nextElementSibling?.getBoundingClientRect().top ?? 0;
  localStorage.setItem(LANGUAGE, target.nextElementSibling?.textContent ?? '');
  showLanguage();
  scrollBy({ top: (target.nextElementSibling?.getBoundingClientRect().top ?? 0) - before, behavior: 'instant' });
}

/** In place of the handler of VitePress, which makes markup of the code: Trusted Types allow that only to Vue. */
function copyCode(event: Event): void {
  if (!(event.target instanceof HTMLElement) || !event.target.matches('button.copy')) return;
  event.stopPropagation();
  const button = event.target;
  void navigator.clipboard.writeText(button.parentElement?.querySelector('pre')?.textContent ?? '').then(() => {
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), COPIED_SHOWN_MS);
  });
}

export default {
  extends: Theme,
  Layout: () =>
    h(Theme.Layout, null, {
      'nav-bar-content-after': () => h('a', { href: '/', target: '_self', class: 'dashboard-link' }, 'Dashboard'),
    }),
  setup() {
    onContentUpdated(() => {
      document.addEventListener('change', chooseLanguage);
      document.addEventListener('click', copyCode, { capture: true });
      showServiceAddress();
      showLanguage();
      document.querySelector('.VPSidebarItem.is-active')?.scrollIntoView({ block: 'nearest' });
    });
  },
};
