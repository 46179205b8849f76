import { templatePath } from '#api/documents/openapi.ts';
import type { Route } from '#api/http/route.ts';
import { errorsOf } from '#api/http/route-errors.ts';
import { ERROR_CATALOGUE } from '#domain/errors.ts';
import { html, inline } from './html.ts';
import { anchorOf } from './markdown.ts';
import type { Page } from './page.ts';

/** Errors that nearly every operation can answer with are not listed operation by operation. */
const LISTED_MAX = 12;

/** Every error code: status, meaning, what to do, and which operations answer with it. */
export function errorsPage(routes: readonly Route[]): Page {
  const errors = Object.entries(ERROR_CATALOGUE);
  return {
    path: '/docs/errors',
    title: 'Errors',
    group: 'API',
    headings: errors.map(([code]) => ({ id: code, text: code, level: 2 })),
    content: html`<h1>Errors</h1>
      <p class="lead">Codes are stable. Decide by <code>error.code</code>; <code>message</code> is for people and may change.</p>
      ${errors.map(([code, { status, message, fix }]) => {
        const answering = routes.filter((route) => errorsOf(route).some((each) => each === code));
        return html`<section class="error"><h2 id="${code}"><code>${code}</code> <b class="status">${status}</b></h2>
          <p>${message}</p><p><strong>What to do.</strong> ${inline(fix)}</p>
          ${
            answering.length === 0 || answering.length > LISTED_MAX
              ? ''
              : html`<ul class="answering">${answering.map(
                  ({ tag, operationId, method, path }) =>
                    html`<li><a href="/docs/api/${anchorOf(tag)}#${operationId}"><code>${method} ${templatePath(path)}</code></a></li>`,
                )}</ul>`
          }</section>`;
      })}`,
  };
}
