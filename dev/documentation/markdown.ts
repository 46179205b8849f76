/** Documents in Markdown as HTML. */
import path from 'node:path';
import { Marked, Renderer, type Tokens } from 'marked';
import { Html, html } from './html.ts';
import { sequenceList } from './sequence-list.ts';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

export interface RenderedDocument {
  readonly title: string;
  readonly content: Html;
  /** Second and third level. */
  readonly headings: readonly Heading[];
}

const HEADING_LEVELS = [2, 3];
const LANGUAGE_NAMES: Readonly<Record<string, string>> = { ts: 'TypeScript', py: 'Python', sh: 'Shell', json: 'JSON' };

/** The anchor that code hosts give a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

const plain = (markup: string): string =>
  markup
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** A block of code; the script of the pages adds the button that copies it. */
export const codeBlock = (code: string, language = ''): Html =>
  html`<pre class="code" tabindex="0"${
    LANGUAGE_NAMES[language] === undefined ? '' : html` data-language="${LANGUAGE_NAMES[language]}"`
  }><code>${code}</code></pre>`;

/** How a target is written in a page: `undefined` if there is no page of it, and its text stays without a link. */
export type TargetOf = (file: string) => string | undefined;

/**
 * @param file path in the repository, which links are relative to
 * @param targetOf address of a file of the repository in the pages
 */
export function renderMarkdown(source: string, file: string, targetOf: TargetOf): RenderedDocument {
  const headings: Heading[] = [];
  const used = new Map<string, number>();
  let title = '';

  const anchor = (text: string): string => {
    const base = anchorOf(text);
    const times = used.get(base) ?? 0;
    used.set(base, times + 1);
    return times === 0 ? base : `${base}-${times}`;
  };
  const address = (href: string): string | undefined => {
    if (/^https?:/.test(href) || href.startsWith('#')) return href;
    const [target = '', hash] = href.split('#');
    const page = targetOf(path.posix.join(path.posix.dirname(file), target));
    return page === undefined ? undefined : `${page}${hash === undefined ? '' : `#${hash}`}`;
  };
  const markdown = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading) {
        const content = this.parser.parseInline(tokens);
        const text = plain(content);
        const id = anchor(text);
        if (depth === 1) {
          title = text;
          return `<h1>${content}</h1>`;
        }
        if (HEADING_LEVELS.includes(depth)) headings.push({ id, text, level: depth });
        return html`<h${depth} id="${id}">${new Html(content)} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>`
          .text;
      },
      code({ text, lang = '' }: Tokens.Code) {
        return (lang === 'mermaid' ? sequenceList(text) : codeBlock(text, lang)).text;
      },
      table(token: Tokens.Table) {
        return `<div class="scroll" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>`;
      },
      link({ href, tokens }: Tokens.Link) {
        const content = new Html(this.parser.parseInline(tokens));
        const target = address(href);
        if (target === undefined) return content.text;
        return /^https?:/.test(target)
          ? html`<a href="${target}" rel="noreferrer">${content}</a>`.text
          : html`<a href="${target}">${content}</a>`.text;
      },
      image({ href, text }: Tokens.Image) {
        const target = address(href);
        return target === undefined ? text : html`<img src="${target}" alt="${text}" loading="lazy">`.text;
      },
      // Documents need none, and it would have to be checked.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => html`${text}`.text,
    },
  });
  const content = markdown.parse(source, { async: false });
  return { title, content: new Html(content), headings };
}
