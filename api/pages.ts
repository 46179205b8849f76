import type Router from '@koa/router';
import type { RequestState } from './handle.ts';
import type { Route } from './route.ts';

/** Serves the pages beside the API: documents and the OpenAPI text. */
export function addPages(router: Router<RequestState>, _routes: readonly Route[], _publicUrl: () => string): void {
  router.redirect('/', '/docs', 302);
}
