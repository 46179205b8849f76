import { type Html, html } from './html.ts';
import { LANGUAGES, type SnippetSource } from './languages.ts';

/**
 * The request in each language that has it. Without scripts they are one below the other; the script of the pages makes
 * tabs of them.
 */
export function snippetTabs(source: SnippetSource): Html {
  const snippets = LANGUAGES.flatMap((language) => {
    const code = language.snippet(source);
    return code === undefined ? [] : [{ name: language.name, code }];
  });
  const tools = source.reached['MCP'] ?? [];
  return html`<div class="snippets" data-search="skip">${snippets.map(
    ({ name, code }) =>
      html`<section data-language="${name}"><h4>${name}</h4><pre class="code" tabindex="0"><code>${code}</code></pre></section>`,
  )}</div>${
    tools.length === 0
      ? ''
      : html`<p class="tools">As an MCP tool: ${tools.map((tool, index) => html`${index === 0 ? '' : ', '}<code>${tool}</code>`)}</p>`
  }`;
}
