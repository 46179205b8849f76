/** So long after the content of a page has moved, a click is not taken: it was meant for what was there before. */
const SHIFT_GUARD_MS = 600;

/** On the document while its content has just moved; styles.css takes the pointer from everything below it. */
const SHIFTED = 'data-shifted';
/** What menus and dialogs take for a click beside them. */
const PRESSES = ['pointerdown', 'mousedown', 'touchstart'] as const;

let timer: ReturnType<typeof setTimeout> | undefined;

const swallow = (event: Event): void => event.stopImmediatePropagation();

function guardClicks(): void {
  clearTimeout(timer);
  document.documentElement.setAttribute(SHIFTED, '');
  for (const press of PRESSES) addEventListener(press, swallow, { capture: true });
  timer = setTimeout(() => {
    document.documentElement.removeAttribute(SHIFTED);
    for (const press of PRESSES) removeEventListener(press, swallow, { capture: true });
  }, SHIFT_GUARD_MS);
}

/**
 * `ref` of an element that comes, changes its height or goes without a person's doing, and moves what is below it:
 * after each of these no click is taken for a moment. Keys act on what has the focus and are taken.
 */
export function movesContent(element: HTMLElement | null): (() => void) | undefined {
  if (element === null) return undefined;
  guardClicks();
  let height = element.offsetHeight;
  const sizes = new ResizeObserver(() => {
    if (element.offsetHeight === height) return;
    height = element.offsetHeight;
    guardClicks();
  });
  sizes.observe(element);
  return () => {
    sizes.disconnect();
    guardClicks();
  };
}
