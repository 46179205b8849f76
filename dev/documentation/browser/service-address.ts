/** The address in snippets. The pages are built once, for every service. */
const BUILT_WITH = 'http://127.0.0.1:8080';

export function showServiceAddress(): void {
  if (location.origin === BUILT_WITH) return;
  for (const code of document.querySelectorAll('pre code')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
      if (node.nodeValue?.includes(BUILT_WITH) === true)
        node.nodeValue = node.nodeValue.replaceAll(BUILT_WITH, location.origin);
  }
}
