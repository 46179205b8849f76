/** The files of `python/src/agent_mailbox/_async` for programs without an event loop: the same without `async`. */

const HEADER = '# Made of _async by `npm run types:python`; do not edit.\n';

const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\basync (def|for|with) /g, '$1 '],
  [/\bawait /g, ''],
  [/\bAsync(Iterator|Generator|Iterable)\b/g, '$1'],
  [/\bhttpx\.AsyncClient\b/g, 'httpx.Client'],
  [/\bAsync([A-Z]\w*)/g, '$1'],
  [/\b__a(enter|exit|iter)__\b/g, '__$1__'],
  [/\ba(close|read|iter_lines|iter_bytes)\(/g, '$1('],
  [/\banyio\.sleep\b/g, 'time.sleep'],
  [/^import anyio$/gm, 'import time'],
  [/\basynccontextmanager\b/g, 'contextmanager'],
  [/\b_async\b/g, '_sync'],
];

export const synchronous = (text: string): string =>
  HEADER + REPLACED.reduce((result, [pattern, other]) => result.replaceAll(pattern, other), text);
