const SPACE = /[\t\n\f\r ]/;
const TAG_NAME_END = /[\t\n\f\r />]|$/g;
const ATTRIBUTE_NAME_END = /[\t\n\f\r />=]|$/g;
const UNQUOTED_VALUE_END = /[\t\n\f\r >]|$/g;

/** Where the pattern matches next, or the end of the text. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

const behind = (mark: string, text: string, from: number): number => {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
};

/**
 * The HTML without `on…` attributes, by the tokens of WHATWG HTML §13.2.5. This is not what makes mail safe: a browser
 * reports each handler that it may not run as an error on the console, also while the sanitiser removes it.
 */
export function withoutHandlers(html: string): string {
  let kept = '';
  let copiedTo = 0;
  let at = 0;
  while ((at = html.indexOf('<', at)) !== -1) {
    const next = html[at + 1] ?? '';
    if (html.startsWith('<!--', at)) {
      // `<!-->` and `<!--->` are whole comments.
      at = /^<!---?>/.test(html.slice(at, at + 6)) ? behind('>', html, at) : behind('-->', html, at + 4);
    } else if (next === '!' || next === '?') at = behind('>', html, at);
    else if (/[a-z]/i.test(next)) {
      at = endOf(TAG_NAME_END, html, at + 1);
      while (at < html.length && html[at] !== '>') {
        const start = at;
        at = attributeEnd(html, at);
        const name = html.slice(start, at).replace(/^[\t\n\f\r /]+/, '');
        if (!/^on/i.test(name)) continue;
        kept += `${html.slice(copiedTo, start)} `;
        copiedTo = at;
      }
    } else at++;
  }
  return kept + html.slice(copiedTo);
}

/** End of the attribute that begins here, with the space before it. Always behind `at`. */
function attributeEnd(html: string, at: number): number {
  let end = at;
  while (end < html.length && (html[end] === '/' || SPACE.test(html[end] ?? ''))) end++;
  if (end === html.length || html[end] === '>') return end;
  // A name may begin with `=`.
  end = endOf(ATTRIBUTE_NAME_END, html, end + 1);
  let value = end;
  while (SPACE.test(html[value] ?? '')) value++;
  if (html[value] !== '=') return end;
  value++;
  while (SPACE.test(html[value] ?? '')) value++;
  const quote = html[value];
  if (quote === '"' || quote === "'") return behind(quote, html, value + 1);
  return endOf(UNQUOTED_VALUE_END, html, value);
}
