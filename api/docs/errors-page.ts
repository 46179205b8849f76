import { ERROR_CATALOGUE } from '../../domain/errors.ts';
import { templatePath } from '../openapi.ts';
import type { Route } from '../route.ts';
import { errorsOf } from '../route-errors.ts';
import { type Html, html } from './html.ts';

/** Errors that nearly every operation can answer with are not listed operation by operation. */
const LISTED_MAX = 12;

/** Every error code: status, meaning, what to do, and who answers with it. */
export function errorsPage(routes: readonly Route[]): Html {
  return html`<h1>Errors</h1>
    <p class="lead">Codes are stable. Decide by <code>error.code</code>; <code>message</code> is for people and may change.</p>
    ${Object.entries(ERROR_CATALOGUE).map(([code, { status, message, fix }]) => {
      const answering = routes.filter((route) => errorsOf(route).some((each) => each === code));
      return html`<section class="operation" id="${code}"><h3><b class="status">${status}</b> <code>${code}</code></h3>
        <p>${message}</p><p><strong>What to do.</strong> ${fix}</p>
        ${
          answering.length === 0 || answering.length > LISTED_MAX
            ? ''
            : html`<p class="errors">${answering.map(
                (route) =>
                  html`<a href="/docs#${route.operationId}"><code>${route.method} ${templatePath(route.path)}</code></a> `,
              )}</p>`
        }</section>`;
    })}`;
}
