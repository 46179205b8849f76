/** Places under which an endpoint's secrets are sealed (see `core/sealed-secrets.ts`). */
export const webhookSecretPlace = (endpointId: string): string => `webhook_endpoints:secret:${endpointId}`;
export const authHeaderPlace = (endpointId: string): string => `webhook_endpoints:auth_header:${endpointId}`;
