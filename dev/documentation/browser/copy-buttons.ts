const SHOWN_MS = 1_500;

/** A button at each block of code that copies it. */
export function addCopyButtons(): void {
  if (navigator.clipboard === undefined) return;
  for (const block of document.querySelectorAll<HTMLElement>('pre.code')) {
    const frame = document.createElement('div');
    frame.className = 'code-frame';
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    block.replaceWith(frame);
    frame.append(block, button);
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, SHOWN_MS);
    });
  }
}
