/**
 * What operators do and see over HTTP: the same use cases as those of the commands. Nothing here shows content of
 * tenants, but the file of an export, which the tenant's own audit log names.
 * What takes long goes on in the background; its row says how far it is.
 */
import type { Route } from '#api/http/route.ts';
import { operatorErasureRoutes } from './erasure-routes.ts';
import { operatorMailRoutes } from './mail-routes.ts';
import { operatorMoveRoutes } from './move-routes.ts';
import { operatorStateRoutes } from './state-routes.ts';

export const operatorRoutes: readonly Route[] = [
  ...operatorStateRoutes,
  ...operatorMailRoutes,
  ...operatorErasureRoutes,
  ...operatorMoveRoutes,
];
