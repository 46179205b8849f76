/** The title of the browser's tab: how much waits for the person, the page, the product. */
const PRODUCT = 'Agent Mailbox';

let page = '';
let waiting = '';

function show(): void {
  const title = page === '' ? PRODUCT : `${page} · ${PRODUCT}`;
  document.title = waiting === '' ? title : `(${waiting}) ${title}`;
}

export function setPageTitle(title: string): void {
  page = title;
  show();
}

/** @param count what is shown in front of the title; empty: nothing */
export function setWaitingCount(count: string): void {
  waiting = count;
  show();
}
